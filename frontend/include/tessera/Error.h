// The exceptions that this library throws.
#pragma once

#include <exception>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace tessera {

/// A place in the user's program.
struct Place {
  std::string file;
  unsigned line = 0;
};

/// What went wrong, in which op, and where. The text of what() is
/// `file:line: [op] what is wrong: f32[2,3] and f32[4,5]`, then the notes, each
/// on a line of its own.
class Error : public std::exception {
public:
  Error(Place place, std::string op, const std::string &message,
        std::vector<std::string> notes = {});
  ~Error() override;

  const char *what() const noexcept override;
  const Place &location() const;
  /// The name of the function that failed, such as "matmul".
  const std::string &op() const;
  const std::vector<std::string> &notes() const;

private:
  struct Data;
  std::shared_ptr<const Data> data;
};

/// Shapes do not fit.
class ShapeError : public Error {
public:
  using Error::Error;
  ~ShapeError() override;
};

/// A dtype that the op is not defined for.
class TypeError : public Error {
public:
  using Error::Error;
  ~TypeError() override;
};

/// An argument outside what the function accepts.
class ValueError : public Error {
public:
  using Error::Error;
  ~ValueError() override;
};

/// An index or an axis that does not exist.
class IndexError : public Error {
public:
  using Error::Error;
  ~IndexError() override;
};

/// A value was used where tracing does not allow it, or its history is gone.
class TraceError : public Error {
public:
  using Error::Error;
  ~TraceError() override;
};

/// Tensors on different devices, or a device that this machine lacks.
class DeviceError : public Error {
public:
  using Error::Error;
  ~DeviceError() override;
};

/// The memory does not suffice.
class OutOfMemory : public Error {
public:
  using Error::Error;
  ~OutOfMemory() override;
};

/// A file cannot be read or written.
class IoError : public Error {
public:
  using Error::Error;
  ~IoError() override;
};

/// A bug of this library.
class InternalError : public Error {
public:
  using Error::Error;
  ~InternalError() override;
};

} // namespace tessera
