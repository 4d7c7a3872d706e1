// Draws the charts. Everything is plain SVG 1.1 with no script, so that any
// browser or editor shows it.
#include "examples/digits/Chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace digits {
namespace {

constexpr const char *ink = "#1f2933", *faint = "#d9dee4",
                     *lossColour = "#c2410c", *accuracyColour = "#0f5fa8";

template <typename... Args>
std::string format(const char *pattern, Args... args) {
  int size = std::snprintf(nullptr, 0, pattern, args...);
  std::string text(static_cast<size_t>(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), pattern, args...);
  text.pop_back();
  return text;
}

std::string text(double x, double y, const char *anchor, int size,
                 const std::string &what, const char *colour = ink) {
  return format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" "
                "font-size=\"%d\" fill=\"%s\">",
                x, y, anchor, size, colour) +
         what + "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2,
                 const char *colour) {
  return format(
      "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n",
      x1, y1, x2, y2, colour);
}

std::string page(double width, double height, const char *title,
                 const std::string &body) {
  return format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f "
                "%.0f\" width=\"%.0f\" height=\"%.0f\" "
                "font-family=\"Helvetica, Arial, sans-serif\" "
                "role=\"img\">\n<title>%s</title>\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                width, height, width, height, title) +
         body + "</svg>\n";
}

/// A step of 1, 2 or 5 times a power of ten that divides `range` into about
/// `parts`.
double niceStep(double range, int parts) {
  double raw = range / parts,
         power = std::pow(10.0, std::floor(std::log10(raw)));
  for (double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * power)
      return factor * power;
  return 10 * power;
}

/// One panel of the learning curve: a value from `low` to `high` over the
/// epochs.
class Panel {
public:
  Panel(double top, size_t epochs, double low, double high)
      : top(top), epochs(epochs), low(low), high(high) {}

  static constexpr double left = 70, width = 600, height = 190;

  std::string axes(const char *title, double step, bool percent) const {
    std::string out = text(left, top - 12, "start", 15, title);
    // The small allowance keeps the last tick in spite of rounding.
    for (double value = low; value <= high + step * 1e-6; value += step) {
      out += line(left, y(value), left + width, y(value), faint);
      std::string label =
          percent ? format("%.4g%%", value * 100) : format("%.4g", value);
      out += text(left - 8, y(value) + 4, "end", 12, label);
    }
    out += line(left, top, left, top + height, ink) +
           line(left, top + height, left + width, top + height, ink);
    auto every = static_cast<size_t>(
        std::max(1.0, niceStep(static_cast<double>(epochs), 10)));
    for (size_t epoch = every; epoch <= epochs; epoch += every) {
      out += line(x(epoch), top + height, x(epoch), top + height + 5, ink);
      out += text(x(epoch), top + height + 19, "middle", 12,
                  std::to_string(epoch));
    }
    return out;
  }

  std::string curve(const std::vector<double> &values,
                    const char *colour) const {
    std::string path, dots;
    bool pen = false;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i])) {
        pen = false;
        continue;
      }
      path += format("%c%.1f %.1f ", pen ? 'L' : 'M', x(i + 1), y(values[i]));
      if (values.size() <= 40)
        dots +=
            format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
                   x(i + 1), y(values[i]), colour);
      pen = true;
    }
    return "<path d=\"" + path +
           "\" fill=\"none\" stroke-width=\"2\" stroke=\"" + colour + "\"/>\n" +
           dots;
  }

  double x(size_t epoch) const {
    // Epochs count from 1; a single one stands in the middle.
    double part = epochs > 1 ? static_cast<double>(epoch - 1) /
                                   static_cast<double>(epochs - 1)
                             : 0.5;
    return left + 10 + (width - 20) * part;
  }

  double y(double value) const {
    return top +
           height * (1 - std::clamp((value - low) / (high - low), 0.0, 1.0));
  }

private:
  double top;
  size_t epochs;
  double low, high;
};

/// A mix of white and a blue; 1 is the full colour.
std::string shade(double part) {
  auto mix = [&](int full) {
    return static_cast<int>(std::lround(255 + (full - 255) * part));
  };
  return format("#%02x%02x%02x", mix(0x0f), mix(0x5f), mix(0xa8));
}

} // namespace

std::string learningCurve(const std::vector<Epoch> &epochs) {
  std::vector<double> losses, accuracies;
  double highest = 0, worst = 1;
  for (const Epoch &epoch : epochs) {
    losses.push_back(epoch.loss);
    accuracies.push_back(epoch.accuracy);
    if (std::isfinite(epoch.loss))
      highest = std::max(highest, epoch.loss);
    if (std::isfinite(epoch.accuracy))
      worst = std::min(worst, std::max(epoch.accuracy, 0.0));
  }
  double lossStep = niceStep(highest > 0 ? highest : 1, 5);
  double lossTop = std::max(lossStep, std::ceil(highest / lossStep) * lossStep);
  // The accuracy's axis begins at a tick below the worst epoch, so that late
  // progress can be seen.
  double accuracyStep = niceStep(std::max(1 - worst, 0.05), 5);
  double accuracyLow = std::max(
      0.0, 1 - std::ceil((1 - worst) / accuracyStep + 0.01) * accuracyStep);

  Panel lossPanel(50, epochs.size(), 0, lossTop),
      accuracyPanel(320, epochs.size(), accuracyLow, 1);
  std::string body =
      lossPanel.axes("Training loss (cross entropy)", lossStep, false) +
      lossPanel.curve(losses, lossColour) +
      accuracyPanel.axes("Test accuracy", accuracyStep, true) +
      accuracyPanel.curve(accuracies, accuracyColour);
  if (!epochs.empty()) {
    const Epoch &last = epochs.back();
    double right = Panel::left + Panel::width;
    body +=
        text(right, 38, "end", 13, format("last: %.4f", last.loss), lossColour);
    body += text(right, 308, "end", 13,
                 format("last: %.2f%%", last.accuracy * 100), accuracyColour);
  }
  body += text(Panel::left + Panel::width / 2, 552, "middle", 13, "epoch");
  return page(700, 570, "Learning curve", body);
}

std::string confusionMatrix(const Confusion &counts) {
  constexpr double left = 80, top = 90, cell = 46;
  int total = 0, right = 0;
  std::string body;
  for (size_t truth = 0; truth < 10; ++truth) {
    int row = 0;
    for (int count : counts[truth])
      row += count;
    total += row;
    right += counts[truth][truth];
    double y = top + static_cast<double>(truth) * cell;
    for (size_t guess = 0; guess < 10; ++guess) {
      double x = left + static_cast<double>(guess) * cell;
      double part =
          row > 0 ? static_cast<double>(counts[truth][guess]) / row : 0;
      // The square root makes single mistakes visible beside a diagonal of
      // nearly 1.
      double strength = std::sqrt(part);
      body += format("<rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" "
                     "height=\"%.0f\" fill=\"%s\" stroke=\"%s\"/>\n",
                     x, y, cell, cell, shade(strength).c_str(), faint);
      if (counts[truth][guess] > 0)
        body += text(x + cell / 2, y + cell / 2 + 5, "middle", 14,
                     std::to_string(counts[truth][guess]),
                     strength > 0.55 ? "white" : ink);
    }
    std::string digit = std::to_string(truth);
    body += text(left - 12, y + cell / 2 + 5, "end", 14, digit);
    body += text(left + (static_cast<double>(truth) + 0.5) * cell, top - 10,
                 "middle", 14, digit);
  }
  double accuracy = total > 0 ? 100.0 * right / total : 0;
  body += text(
      left, 28, "start", 16,
      format("%d of %d test images right: %.2f%%", right, total, accuracy));
  body += text(left + 5 * cell, top - 34, "middle", 13, "predicted digit");
  body += format(
      "<text transform=\"translate(28 %.0f) rotate(-90)\" "
      "text-anchor=\"middle\" font-size=\"13\" fill=\"%s\">true digit</text>\n",
      top + 5 * cell, ink);
  return page(left + 10 * cell + 30, top + 10 * cell + 30, "Confusion matrix",
              body);
}

} // namespace digits
