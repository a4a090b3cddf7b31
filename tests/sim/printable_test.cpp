// Text of unknown origin, made fit for a terminal.
#include "sim/text/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace shardscope::testing {
namespace {

const std::string kBidirectionalControls[] = {"\u061c", "\u200e", "\u200f", "\u202a",
                                              "\u202b", "\u202c", "\u202d", "\u202e",
                                              "\u2066", "\u2067", "\u2068", "\u2069"};

TEST(Printable, NothingChangesTheDirectionOfWriting) {
  for (const std::string& control : kBidirectionalControls) {
    const std::string name = "abc" + control + "def";
    EXPECT_EQ(printable(name), "abc?def");
    EXPECT_EQ(shown(name).substr(0, 5), "abc\\x");
    EXPECT_EQ(shardscope::quoted(name).substr(0, 6), "\"abc\\x");
  }
  EXPECT_EQ(shown("\u202e"), "\\xe2\\x80\\xae");
}

TEST(Printable, OtherCharactersOfTheseBlocksAreShown) {
  for (const std::string text : {"\u061b", "\u061d", "\u200d", "\u2010", "\u2029", "\u202f",
                                 "\u2065", "\u206a", "\u00e4", "\u05d0\u05d1", "\u4e2d"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(shown(text), text);
    EXPECT_EQ(shardscope::quoted(text), "\"" + text + "\"");
  }
}

}  // namespace
}  // namespace shardscope::testing
