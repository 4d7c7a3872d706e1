// Charts of a training run as SVG text: the learning curve and the confusion
// matrix.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace digits {

/// What is known after an epoch: the mean loss over the training images, and
/// the fraction of the images held back for testing that are classified
/// correctly.
struct Epoch {
  double loss;
  double accuracy;
};

/// Loss and accuracy by epoch, in two panels above each other. Values that are
/// not finite leave a gap.
std::string learningCurve(const std::vector<Epoch> &epochs);

/// counts[truth][guess]: how often an image of the digit `truth` was taken for
/// `guess`.
using Confusion = std::array<std::array<int, 10>, 10>;

/// The counts in a square, coloured by their part of the row, with the accuracy
/// in the title.
std::string confusionMatrix(const Confusion &counts);

} // namespace digits
