// The tree of sums, spelt out: combining texts shows which value meets which.
#include "lowering/Reference/Tree.h"
#include <gtest/gtest.h>

using namespace tessera::lowering::reference;

/// "0" and "1" give "(0+1)"; an empty text is the identity.
static std::string join(const std::string &a, const std::string &b) {
  if (a.empty() || b.empty())
    return a + b;
  return "(" + a + "+" + b + ")";
}

static std::string tree(size_t first, size_t count) {
  std::vector<std::string> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(std::to_string(first + i));
  return combineTree<std::string>(values, "", join);
}

TEST(Tree, GroupsOfFour) {
  EXPECT_EQ(tree(0, 1), "0");
  EXPECT_EQ(tree(0, 3), "((0+1)+2)");
  EXPECT_EQ(tree(0, 4), "((0+1)+(2+3))");
  EXPECT_EQ(tree(0, 6), "(((0+1)+(2+3))+(4+5))");
}

TEST(Tree, LanesFoldByHalves) {
  // Groups 0 to 15 stand in their lanes; lane 0 meets 8, then 4 (with 12),
  // 2, 1.
  std::string text = tree(0, 64);
  std::string group0 = "((0+1)+(2+3))", group8 = "((32+33)+(34+35))",
              group4 = "((16+17)+(18+19))", group12 = "((48+49)+(50+51))";
  EXPECT_EQ(text.find("((((" + group0 + "+" + group8 + ")+(" + group4 + "+" +
                      group12 + "))+"),
            0u)
      << text;
}

TEST(Tree, LanesAddTheirGroupsInOrder) {
  // Group 16 returns to lane 0, before the lanes fold.
  EXPECT_NE(tree(0, 68).find("(((0+1)+(2+3))+((64+65)+(66+67)))"),
            std::string::npos);
}

TEST(Tree, ChunksAreReducedByTheSameRule) {
  std::string expected;
  std::string chunks[3] = {tree(0, 1024), tree(1024, 1024), tree(2048, 500)};
  EXPECT_EQ(tree(0, 2548), join(join(chunks[0], chunks[1]), chunks[2]));
}

TEST(Tree, Zeros) {
  float zeros[] = {-0.0f, -0.0f, -0.0f};
  EXPECT_TRUE(std::signbit(sumTree<float>(zeros)));
  EXPECT_FALSE(std::signbit(sumTree<float>({})));
  EXPECT_EQ(productTree<float>({}), 1.0f);
}
