#include "gui/model/fuzzy.h"

#include <catch2/catch.hpp>

namespace vsim::gui {

TEST_CASE("Fuzzy search: words in any order, letters in theirs") {
  CHECK(fuzzyScore("", "anything") == 0);
  CHECK(fuzzyScore("theme dark", "Dark theme").has_value());
  CHECK(fuzzyScore("dkt", "Dark theme").has_value());
  CHECK_FALSE(fuzzyScore("kd", "Dark").has_value());
  CHECK_FALSE(fuzzyScore("dark x", "Dark theme").has_value());
}

TEST_CASE("Fuzzy search: whole words before starts of words before letters") {
  CHECK(*fuzzyScore("zoom", "Zoom in") > *fuzzyScore("zoom", "Zonal open mode"));
  CHECK(*fuzzyScore("om", "Open map") > *fuzzyScore("om", "Other xmas"));
  CHECK(*fuzzyScore("in", "Zoom in") > *fuzzyScore("in", "Zooming"));
}

}  // namespace vsim::gui
