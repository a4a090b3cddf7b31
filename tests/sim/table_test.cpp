#include "sim/report/table.h"

#include <gtest/gtest.h>

namespace shardscope {
namespace {

Table three_columns() {
  Table table;
  table.add_column("", Align::left);
  table.add_column("wall", Align::right);
  table.add_column("link\nbandwidth", Align::right);
  table.add_row({"DDP", "12.5", "1"});
  table.add_row({"NAIVE_ZERO", "7", "2"});
  return table;
}

TEST(TableTest, AlignsColumns) {
  EXPECT_EQ(three_columns().text(),
            "                         link\n"
            "              wall  bandwidth\n"
            "  DDP         12.5          1\n"
            "  NAIVE_ZERO     7          2\n");
}

TEST(TableTest, ContinuesInFurtherBlocks) {
  EXPECT_EQ(three_columns().text(20),
            "              wall\n"
            "  DDP         12.5\n"
            "  NAIVE_ZERO     7\n"
            "\n"
            "                   link\n"
            "              bandwidth\n"
            "  DDP                 1\n"
            "  NAIVE_ZERO          2\n");
}

TEST(TableTest, ShowsNoLineOfEmptyTitles) {
  Table table;
  table.add_column("", Align::left);
  table.add_column("", Align::left);
  table.add_row({"DDP", "16 P"});
  EXPECT_EQ(table.text(), "  DDP  16 P\n");
}

TEST(TableTest, CountsCharactersNotBytes) {
  Table table;
  table.add_column("name", Align::left);
  table.add_column("n", Align::right);
  table.add_row({"\u00e9t\u00e9", "1"});
  table.add_row({"summer", "2"});
  EXPECT_EQ(table.text(), "  name    n\n  \u00e9t\u00e9     1\n  summer  2\n");
}

TEST(TableTest, FillsTheWidthExactly) {
  EXPECT_NE(three_columns().text(29).find("wall  bandwidth"), std::string::npos);
  EXPECT_EQ(three_columns().text(28).find("wall  bandwidth"), std::string::npos);
}

TEST(TableDeathTest, RefusesARowOfAnotherLength) {
  Table table = three_columns();
  EXPECT_DEATH(table.add_row({"ZERO1"}), "another number of cells");
}

}  // namespace
}  // namespace shardscope
