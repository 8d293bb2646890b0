#pragma once

#include <optional>
#include <string_view>

namespace vsim::gui {

/// How well `text` answers to what was typed: letters of `pattern` in order, words of it apart, case aside.
/// Higher is better: starts of words and letters side by side count. Nothing: it does not. An empty pattern
/// answers 0 to everything.
[[nodiscard]] std::optional<int> fuzzyScore(std::string_view pattern, std::string_view text);

}  // namespace vsim::gui
