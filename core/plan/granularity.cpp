#include "core/plan/granularity.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/checked.h"

namespace vsim::core {

bool matches(std::string_view pattern, std::string_view text) {
  // Greedy with one point to return to: on a mismatch the last '*' takes one character more.
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Result<std::int64_t> blockElements(const BlockRule& rule, std::span<const std::int64_t> shape) {
  const int kinds = (rule.elements != 0) + (rule.rows != 0) + !rule.tile.empty() + rule.whole;
  if (kinds > 1)
    return fail(
        fmt::format("granularity of '{}': more than one of elements, rows, tile and whole", rule.match));
  if (rule.elements < 0 || rule.rows < 0)
    return fail(fmt::format("granularity of '{}': counts must be at least 1", rule.match));
  if (!rule.tile.empty() && (rule.tile.size() != 2 || rule.tile[0] < 1 || rule.tile[1] < 1))
    return fail(fmt::format("granularity of '{}': a tile is two sizes of at least 1", rule.match));

  if (rule.elements > 0) return rule.elements;
  if (rule.whole) {
    std::int64_t product = 1;
    for (const std::int64_t size : shape) {
      const auto next = checkedMultiply(product, size);
      if (!next) return fail(fmt::format("granularity of '{}': the tensor's size overflows", rule.match));
      product = *next;
    }
    return std::max<std::int64_t>(product, 1);
  }
  const std::int64_t rows = rule.tile.empty() ? rule.rows : rule.tile[0];
  if (rows == 0 || shape.size() < 2) return 1;
  const auto block = checkedMultiply(rows, std::max<std::int64_t>(shape.back(), 1));
  if (!block) return fail(fmt::format("granularity of '{}': the block's size overflows", rule.match));
  return *block;
}

Result<std::int64_t> blockElements(std::span<const BlockRule> rules, std::string_view name,
                                   std::span<const std::int64_t> shape) {
  for (std::size_t i = rules.size(); i-- > 0;)
    if (matches(rules[i].match, name)) return blockElements(rules[i], shape);
  return 1;
}

}  // namespace vsim::core
