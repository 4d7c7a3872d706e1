// Cells, and the scopes that stand between them and the code inside a
// transform.
#include "frontend/Cells.h"
#include "frontend/TensorImpl.h"

#include "tessera/Autodiff.h"
#include "tessera/Elementwise.h"
#include "tessera/Manipulation.h"

namespace tessera {
namespace detail {

// Cells

std::unique_lock<std::mutex> Cell::whenHere() {
  while (true) {
    std::unique_lock guard(mutex);
    if (!isLent.load(std::memory_order_relaxed)) [[likely]]
      return guard;
    guard.unlock();
    isLent.wait(true);
  }
}

runtime::Storage Cell::borrow(DType dtype, const Shape &shape, Tensor &shared) {
  std::unique_lock guard = whenHere();
  TensorImpl *impl = value.handle().get();
  // With the last handle in here, other threads can come to it by a trace only.
  bool isSole = impl && !impl->trace && !impl->leaf && impl->dtype == dtype &&
                impl->shape == shape &&
                impl->references.load(std::memory_order_acquire) == 1 &&
                impl->storage.canDonate();
  if (!isSole) {
    shared = value;
    return {};
  }
  isLent.store(true, std::memory_order_relaxed);
  return std::move(impl->storage);
}

void Cell::endLoan(std::unique_lock<std::mutex> guard) {
  isLent.store(false);
  guard.unlock();
  isLent.notify_all();
}

void Cell::settle(Tensor next) {
  std::unique_lock guard(mutex);
  std::swap(value, next);
  endLoan(std::move(guard));
}

void Cell::settle(runtime::Storage bytes) {
  std::unique_lock guard(mutex);
  value.handle()->storage = std::move(bytes);
  endLoan(std::move(guard));
}

std::string Cell::name() {
  std::lock_guard guard(mutex);
  return theName;
}

void Cell::giveName(const std::string &other) {
  std::lock_guard guard(mutex);
  if (other.size() > theName.size())
    theName = other;
}

void nameCell(const Variable &variable, const std::string &name) {
  if (variable.cell())
    variable.cell()->giveName(name);
}

// Scopes

static thread_local CellScope::State *innermost = nullptr;

CellScope::CellScope() : theState(std::make_unique<State>()) {
  theState->outer = innermost;
  innermost = theState.get();
}

CellScope::~CellScope() {
  if (open)
    innermost = theState->outer;
}

void CellScope::bind(const Variable &variable, Tensor value) {
  theState->set(variable.cell(), value, false);
}

void CellScope::State::set(const std::shared_ptr<Cell> &cell,
                           const Tensor &value, bool written) {
  auto [it, isNew] = values.try_emplace(
      cell.get(), Entry{cell, value, written, values.size()});
  if (!isNew) {
    it->second.value = value;
    it->second.written = written;
  }
}

std::vector<std::pair<std::shared_ptr<Cell>, Tensor>>
CellScope::writes() const {
  std::vector<const State::Entry *> entries;
  for (auto &[cell, entry] : theState->values)
    if (entry.written)
      entries.push_back(&entry);
  std::ranges::sort(entries, {}, &State::Entry::order);
  std::vector<std::pair<std::shared_ptr<Cell>, Tensor>> list;
  for (const State::Entry *entry : entries)
    list.push_back({entry->cell, entry->value});
  return list;
}

void CellScope::commit() {
  open = false;
  innermost = theState->outer;
  for (auto &[cell, value] : writes())
    writeCell(cell, value);
}

Tensor stripHistory(const Tensor &value) {
  return value.defined() && value.requires_grad() ? detach(value) : value;
}

Tensor readCell(const std::shared_ptr<Cell> &cell) {
  for (CellScope::State *scope = innermost; scope; scope = scope->outer) {
    if (auto it = scope->values.find(cell.get()); it != scope->values.end())
      return it->second.value;
    if (scope->capture) {
      Tensor input = scope->capture(cell);
      scope->set(cell, input, false);
      return input;
    }
  }
  return cell->load();
}

void writeCell(const std::shared_ptr<Cell> &cell, const Tensor &value) {
  if (innermost) {
    innermost->set(cell, value, true);
    return;
  }
  cell->store(stripHistory(value));
}

} // namespace detail

Variable::Variable() : theCell(std::make_shared<detail::Cell>()) {}

Variable::Variable(const Tensor &value)
    : theCell(std::make_shared<detail::Cell>()) {
  // A new cell with a value that is known begins before the transform that it
  // is made in: a program reads it anew at each call.
  if (value.defined() && value.handle()->ready.load(std::memory_order_acquire))
    theCell->store(detail::stripHistory(value));
  else
    detail::writeCell(theCell, value);
}

Variable::Variable(const Variable &other) : Variable(other.value()) {
  if (other.theCell)
    theCell->giveName(other.theCell->name());
}

Variable &Variable::operator=(const Tensor &value) {
  if (!theCell)
    theCell = std::make_shared<detail::Cell>();
  detail::writeCell(theCell, value);
  return *this;
}

Tensor Variable::value() const {
  return theCell ? detail::readCell(theCell) : Tensor();
}

Variable &Variable::operator+=(const Operand &y) {
  return *this = Operand(value(), y.place()) + y;
}
Variable &Variable::operator-=(const Operand &y) {
  return *this = Operand(value(), y.place()) - y;
}
Variable &Variable::operator*=(const Operand &y) {
  return *this = Operand(value(), y.place()) * y;
}
Variable &Variable::operator/=(const Operand &y) {
  return *this = Operand(value(), y.place()) / y;
}

} // namespace tessera
