// The text of exceptions.
#include "tessera/Error.h"

namespace tessera {

struct Error::Data {
  Place place;
  std::string op;
  std::vector<std::string> notes;
  std::string text;
};

Error::Error(Place place, std::string op, const std::string &message,
             std::vector<std::string> notes) {
  std::string text;
  if (!place.file.empty())
    text = place.file + ":" + std::to_string(place.line) + ": ";
  if (!op.empty())
    text += "[" + op + "] ";
  text += message;
  for (const std::string &note : notes)
    text += "\n" + note;
  data = std::make_shared<const Data>(
      Data{std::move(place), std::move(op), std::move(notes), std::move(text)});
}

Error::~Error() = default;
const char *Error::what() const noexcept { return data->text.c_str(); }
const Place &Error::location() const { return data->place; }
const std::string &Error::op() const { return data->op; }
const std::vector<std::string> &Error::notes() const { return data->notes; }

// Out of line, so that the classes have one home for their type information.
ShapeError::~ShapeError() = default;
TypeError::~TypeError() = default;
ValueError::~ValueError() = default;
IndexError::~IndexError() = default;
TraceError::~TraceError() = default;
DeviceError::~DeviceError() = default;
OutOfMemory::~OutOfMemory() = default;
IoError::~IoError() = default;
InternalError::~InternalError() = default;

} // namespace tessera
