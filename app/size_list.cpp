#include "app/size_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace vsim::app {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 40;
constexpr std::size_t kMost = 1000;

std::optional<std::int64_t> parseSize(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 1 || value > kLargest)
    return std::nullopt;
  return value;
}

}  // namespace

core::Result<std::vector<std::int64_t>> parseSizeList(const std::string& text) {
  std::vector<std::int64_t> sizes;
  const auto add = [&](std::int64_t value) {
    if (std::find(sizes.begin(), sizes.end(), value) == sizes.end()) sizes.push_back(value);
  };
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, comma - begin);
    begin = comma + 1;
    const std::size_t dots = part.find("..");
    const auto first = parseSize(part.substr(0, dots));
    const auto last = dots == std::string::npos ? first : parseSize(part.substr(dots + 2));
    if (!first || !last || *last < *first)
      return core::fail(fmt::format("\"{:.40}\" is no group size", part),
                        "sizes and doubling ranges: 64,96,128..1024");
    for (std::int64_t value = *first; value <= *last; value *= 2) add(value);
    if (sizes.size() > kMost) return core::fail(fmt::format("more than {} group sizes", kMost));
  }
  return sizes;
}

std::vector<std::string> splitList(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    if (comma > begin) parts.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return parts;
}

}  // namespace vsim::app
