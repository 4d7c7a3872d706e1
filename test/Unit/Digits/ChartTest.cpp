// Tests of the charts and the progress bar of the digits example.
#include "examples/digits/Chart.h"
#include "examples/digits/Progress.h"

#include <cmath>
#include <gtest/gtest.h>

namespace digits {
namespace {

size_t countOf(const std::string &text, const std::string &what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1))
    ++count;
  return count;
}

void expectSound(const std::string &svg) {
  EXPECT_EQ(svg.rfind("<svg ", 0), 0u);
  EXPECT_NE(svg.find("</svg>\n"), std::string::npos);
  EXPECT_EQ(countOf(svg, "<text"), countOf(svg, "</text>"));
  for (const char *number : {"nan", "inf", "-0.0\""})
    EXPECT_EQ(svg.find(number), std::string::npos) << number;
}

TEST(Chart, LearningCurveShowsEveryEpoch) {
  std::string svg = learningCurve({{2.0, 0.3}, {1.0, 0.8}, {0.5, 0.975}});
  expectSound(svg);
  EXPECT_EQ(countOf(svg, "<circle"), 6u);
  EXPECT_NE(svg.find("last: 0.5000"), std::string::npos);
  EXPECT_NE(svg.find("last: 97.50%"), std::string::npos);
}

TEST(Chart, LearningCurveOfOddRuns) {
  expectSound(learningCurve({}));
  expectSound(learningCurve({{0, 1}}));
  expectSound(learningCurve({{1e-9, 0}, {1e9, 1}}));
  expectSound(learningCurve(std::vector<Epoch>(5000, {0.1, 0.9})));
  std::string svg =
      learningCurve({{1, 0.5}, {NAN, 0.6}, {0.5, INFINITY}, {0.4, 0.7}});
  EXPECT_EQ(countOf(svg, "<circle"), 6u);
}

TEST(Chart, ConfusionMatrixCounts) {
  Confusion counts{};
  for (size_t digit = 0; digit < 10; ++digit)
    counts[digit][digit] = 30;
  counts[3][5] = 7;
  std::string svg = confusionMatrix(counts);
  expectSound(svg);
  EXPECT_NE(svg.find("300 of 307 test images right: 97.72%"),
            std::string::npos);
  EXPECT_EQ(countOf(svg, "<rect"), 101u);
  EXPECT_NE(svg.find(">7</text>"), std::string::npos);
  expectSound(confusionMatrix({}));
}

std::string progressText(bool shown) {
  char *text = nullptr;
  size_t size = 0;
  std::FILE *out = ::open_memstream(&text, &size);
  {
    Progress progress(2, 64, shown, out);
    progress.step(1.5);
    progress.step(0.25);
  }
  std::fclose(out);
  std::string result(text, size);
  std::free(text);
  return result;
}

TEST(Progress, SilentUnlessShown) { EXPECT_EQ(progressText(false), ""); }

TEST(Progress, EndsFullAndIsCleared) {
  std::string text = progressText(true);
  EXPECT_NE(text.find("100%  loss 0.2500"), std::string::npos);
  EXPECT_NE(text.find(" images/s"), std::string::npos);
  EXPECT_EQ(text.substr(text.size() - 4), "\r\033[K");
}

} // namespace
} // namespace digits
