// Products by labels: parsed, then contracted two operands at a time.
#include "frontend/Formula.h"
#include "frontend/Operands.h"
#include "frontend/Products.h"
#include "tessera/Product.h"

#include <map>

using namespace mlir;

namespace tessera {
using namespace detail;

namespace {

/// A letter, or a negative number for a dimension under an ellipsis, counted
/// from the right.
using Label = int;
using Labels = SmallVector<Label>;

struct Term {
  Expr value;
  Labels labels;
};

class Einsum {
public:
  Einsum(std::string_view equation, ArrayRef<Tensor> operands,
         std::source_location place)
      : r("einsum", place, pointers(operands)), operands(operands) {
    parse(equation);
  }

  Tensor run() {
    SmallVector<Term> terms = makeTerms();
    for (size_t i = 0; i < terms.size(); ++i)
      takeDiagonals(terms[i]);
    Term result = std::move(terms[0]);
    for (size_t i = 1; i < terms.size(); ++i) {
      ArrayRef<Term> rest = ArrayRef(terms).drop_front(i + 1);
      result = multiply(result, terms[i], rest);
    }
    sumAway(result, {});
    return r.finish(inOrder(result));
  }

private:
  static SmallVector<const Tensor *> pointers(ArrayRef<Tensor> operands) {
    return llvm::map_to_vector(operands, [](const Tensor &t) { return &t; });
  }

  [[noreturn]] void fail(const std::string &what) {
    std::string types;
    for (const Tensor &operand : operands)
      types += (types.empty() ? "" : ", ") + typeText(operand);
    r.fail<ShapeError>(what + ": " + types);
  }

  // Parsing

  /// The labels of one operand, whose ellipsis has `hidden` dimensions.
  Labels parseLabels(StringRef text, int64_t hidden) {
    Labels labels;
    while (!text.empty()) {
      if (text.consume_front("...")) {
        for (int64_t i = hidden; i > 0; --i)
          labels.push_back(Label(-i));
        continue;
      }
      char letter = text.front();
      if (!llvm::isAlpha(letter))
        r.fail<ValueError>(std::string("'") + letter +
                           "' is no label of a dimension");
      labels.push_back(letter);
      text = text.drop_front();
    }
    return labels;
  }

  void parse(std::string_view equation) {
    std::string text;
    llvm::copy_if(equation, std::back_inserter(text),
                  [](char c) { return c != ' '; });
    bool hasArrow = StringRef(text).contains("->");
    auto [left, right] = StringRef(text).split("->");
    SmallVector<StringRef> parts;
    left.split(parts, ',');
    if (parts.size() != operands.size())
      fail("the equation names " + std::to_string(parts.size()) + " operands");
    int64_t mostHidden = 0;
    for (auto [part, operand] : llvm::zip(parts, operands)) {
      int64_t named = int64_t(part.size()) - (part.contains("...") ? 3 : 0);
      int64_t hidden = operand.ndim() - named;
      if (hidden < 0 || (hidden > 0 && !part.contains("...")))
        fail("the labels '" + part.str() + "' do not fit an operand");
      mostHidden = std::max(mostHidden, hidden);
      inputs.push_back(parseLabels(part, hidden));
    }
    output =
        hasArrow ? parseLabels(right, mostHidden) : implicitOutput(mostHidden);
    checkOutput();
  }

  /// Ellipsis first, then the labels that occur once, in alphabetical order.
  Labels implicitOutput(int64_t mostHidden) {
    std::map<Label, int> counts;
    for (const Labels &labels : inputs)
      for (Label label : labels)
        ++counts[label];
    Labels result;
    for (int64_t i = mostHidden; i > 0; --i)
      result.push_back(Label(-i));
    for (auto [label, count] : counts)
      if (label > 0 && count == 1)
        result.push_back(label);
    return result;
  }

  void checkOutput() {
    for (size_t i = 0; i < output.size(); ++i) {
      bool isKnown = llvm::any_of(inputs, [&](const Labels &labels) {
        return llvm::is_contained(labels, output[i]);
      });
      if (!isKnown)
        fail("the result has a label that no operand has");
      if (llvm::is_contained(ArrayRef(output).drop_front(i + 1), output[i]))
        fail("the result has a label twice");
    }
  }

  // Terms

  DType commonDType() {
    DType dtype = operands[0].dtype();
    for (const Tensor &operand : operands) {
      if (!isSupported(operand.dtype()) || runtime::isBool(operand.dtype()))
        r.fail<TypeError>("the elements are no numbers: " + typeText(operand));
      dtype = result_type(dtype, operand.dtype());
    }
    return dtype;
  }

  SmallVector<Term> makeTerms() {
    for (auto [labels, operand] : llvm::zip(inputs, operands))
      for (auto [label, size] : llvm::zip(labels, operand.shape())) {
        auto [it, isNew] = sizes.try_emplace(label, size);
        if (it->second == size)
          continue;
        if (label > 0 || (it->second != 1 && size != 1))
          fail("dimensions of one label differ in size");
        it->second = std::max(it->second, size);
      }
    DType dtype = commonDType();
    SmallVector<Term> terms;
    for (auto [labels, operand] : llvm::zip(inputs, operands)) {
      Term term{r.convert(r.expr(r.value(operand)), dtype), {}};
      SmallVector<int64_t> shape;
      // A dimension that broadcasts has no part in this operand.
      for (auto [label, size] : llvm::zip(labels, operand.shape()))
        if (size == sizes[label]) {
          term.labels.push_back(label);
          shape.push_back(size);
        }
      term.value = ir::reshape(term.value, shape);
      terms.push_back(std::move(term));
    }
    return terms;
  }

  /// A label that an operand has twice walks along its diagonal.
  void takeDiagonals(Term &term) {
    for (size_t i = 0; i < term.labels.size(); ++i)
      for (size_t j = i + 1; j < term.labels.size();) {
        if (term.labels[i] != term.labels[j]) {
          ++j;
          continue;
        }
        Expr x = term.value;
        Type position = r.builder().getI64Type();
        Expr isOn =
            iota(x, position, int64_t(i)) == iota(x, position, int64_t(j));
        term.value = ir::reduce(ir::Reduction::sum, select(isOn, x, x.zero()),
                                int64_t(j));
        term.labels.erase(term.labels.begin() + j);
      }
  }

  bool isNeeded(Label label, ArrayRef<Term> rest) {
    return llvm::is_contained(output, label) ||
           llvm::any_of(rest, [&](const Term &term) {
             return llvm::is_contained(term.labels, label);
           });
  }

  /// Sums over the labels that nothing after needs.
  void sumAway(Term &term, ArrayRef<Term> rest) {
    SmallVector<int64_t> dims;
    Labels kept;
    for (auto [i, label] : llvm::enumerate(term.labels))
      if (isNeeded(label, rest))
        kept.push_back(label);
      else
        dims.push_back(int64_t(i));
    if (!dims.empty())
      term.value = ir::reduce(ir::Reduction::sum, term.value, dims);
    term.labels = kept;
  }

  Term multiply(Term &a, Term &b, ArrayRef<Term> rest) {
    SmallVector<Term> others(rest);
    others.push_back(b);
    sumAway(a, others);
    others.back() = a;
    sumAway(b, others);
    SmallVector<int64_t> aBatch, bBatch, aContract, bContract;
    Labels batch, aFree, bFree;
    for (auto [i, label] : llvm::enumerate(a.labels)) {
      auto it = llvm::find(b.labels, label);
      if (it == b.labels.end()) {
        aFree.push_back(label);
        continue;
      }
      bool keeps = isNeeded(label, rest);
      (keeps ? aBatch : aContract).push_back(int64_t(i));
      (keeps ? bBatch : bContract).push_back(it - b.labels.begin());
      if (keeps)
        batch.push_back(label);
    }
    for (Label label : b.labels)
      if (!llvm::is_contained(a.labels, label))
        bFree.push_back(label);
    Term result{
        contract(r, a.value, b.value, aBatch, bBatch, aContract, bContract),
        batch};
    result.labels.append(aFree);
    result.labels.append(bFree);
    return result;
  }

  /// The result's dimensions in the order of the output; those that no operand
  /// has in full size are of size 1.
  Expr inOrder(Term &term) {
    SmallVector<int64_t> permutation;
    for (Label label : output)
      permutation.push_back(llvm::find(term.labels, label) -
                            term.labels.begin());
    return llvm::is_sorted(permutation) ? term.value
                                        : transpose(term.value, permutation);
  }

  Recording r;
  ArrayRef<Tensor> operands;
  SmallVector<Labels> inputs;
  Labels output;
  std::map<Label, int64_t> sizes;
};

} // namespace

Tensor einsum(std::string_view equation, std::span<const Tensor> operands,
              std::source_location place) {
  if (operands.empty())
    throw ValueError(errorPlace(place), "einsum", "there are no operands");
  return Einsum(equation, ArrayRef(operands.data(), operands.size()), place)
      .run();
}

Tensor einsum(std::string_view equation, std::initializer_list<Tensor> operands,
              std::source_location place) {
  return einsum(equation, std::span(operands.begin(), operands.size()), place);
}

} // namespace tessera
