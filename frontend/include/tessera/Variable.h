// Mutable cells that hold tensors: parameters, buffers, the state of
// optimisers.
#pragma once

#include "tessera/Tensor.h"

#include <memory>

namespace tessera {

class Variable;

namespace detail {

class Cell;

/// While one lives, reads of some cells on its thread give other values, and
/// writes reach no cell before `commit`: then they go to the scope around it,
/// or, if there is none, to the cells. Without `commit` they are dropped.
class CellScope {
public:
  CellScope();
  ~CellScope();
  CellScope(const CellScope &) = delete;

  void bind(const Variable &variable, Tensor value);
  /// The cells that were written, with their last values, in the order in
  /// which they were first read or written.
  std::vector<std::pair<std::shared_ptr<Cell>, Tensor>> writes() const;
  void commit();

  struct State;
  State &state() { return *theState; }

private:
  std::unique_ptr<State> theState;
  bool open = true;
};

Tensor readCell(const std::shared_ptr<Cell> &cell);
void writeCell(const std::shared_ptr<Cell> &cell, const Tensor &value);

} // namespace detail

/// A value with identity. It reads as a tensor; assignment replaces the value
/// for everyone who reads this variable. A copy is a new variable of the same
/// value and name; a move keeps the identity. Reads and writes are atomic.
class Variable {
public:
  /// Empty until it is assigned to.
  Variable();
  Variable(const Tensor &value);
  template <typename Number>
    requires std::is_arithmetic_v<Number>
  Variable(Number value,
           std::source_location place = std::source_location::current())
      : Variable(Tensor(value, place)) {}
  Variable(const Variable &other);
  Variable(Variable &&other) noexcept = default;
  Variable &operator=(const Variable &other) { return *this = other.value(); }
  Variable &operator=(Variable &&other) noexcept = default;
  Variable &operator=(const Tensor &value);
  template <typename Number>
    requires std::is_arithmetic_v<Number>
  Variable &operator=(Number value) {
    return *this = Tensor(value);
  }

  /// The tensor that it holds.
  Tensor value() const;
  operator Tensor() const { return value(); }

  bool defined() const { return value().defined(); }
  Shape shape() const { return value().shape(); }
  int64_t ndim() const { return value().ndim(); }
  int64_t size() const { return value().size(); }
  DType dtype() const { return value().dtype(); }
  Device device() const { return value().device(); }
  Tensor T(std::source_location place = std::source_location::current()) const {
    return value().T(place);
  }
  Tensor
  eval(std::source_location place = std::source_location::current()) const {
    return value().eval(place);
  }
  template <NativeElement Number>
  Number
  item(std::source_location place = std::source_location::current()) const {
    return value().item<Number>(place);
  }
  template <NativeElement Number>
  std::vector<Number> to_vector(
      std::source_location place = std::source_location::current()) const {
    return value().to_vector<Number>(place);
  }

  Variable &operator+=(const Operand &y);
  Variable &operator-=(const Operand &y);
  Variable &operator*=(const Operand &y);
  Variable &operator/=(const Operand &y);

  /// For the library.
  const std::shared_ptr<detail::Cell> &cell() const { return theCell; }

private:
  std::shared_ptr<detail::Cell> theCell;
};

namespace detail {
/// Tells a variable's cell the name that a module or an optimiser has for it.
void nameCell(const Variable &variable, const std::string &name);
} // namespace detail

inline Operand::Operand(const Variable &variable, std::source_location place)
    : theTensor(variable.value()), thePlace(place) {}

} // namespace tessera
