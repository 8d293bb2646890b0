#include "gpu/job/slurm_lists.h"

#include <algorithm>
#include <charconv>

namespace vsim::gpu {
namespace {

bool isDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char letter) { return letter >= '0' && letter <= '9'; });
}

/// A whole number of at least 1 at the beginning of `text`, which is taken off; 0 when there is none.
int takeCount(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 1) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

}  // namespace

core::Result<std::string> firstHost(std::string_view list) {
  const auto broken = [&](std::string_view why) {
    return core::fail(fmt::format("the node list '{}' cannot be read: {}", list, why));
  };
  std::string host;
  std::size_t at = 0;
  while (at < list.size() && list[at] != ',') {
    if (list[at] != '[') {
      if (list[at] == ']') return broken("a ']' without its '['");
      host += list[at++];
      continue;
    }
    const std::size_t close = list.find(']', at);
    if (close == std::string_view::npos) return broken("a '[' is not closed");
    // "01-04,7": the first number of the first range, with its leading zeros.
    std::string_view range = list.substr(at + 1, close - at - 1);
    range = range.substr(0, range.find(','));
    const std::size_t dash = range.find('-');
    const std::string_view first = range.substr(0, dash);
    if (!isDigits(first) || (dash != std::string_view::npos && !isDigits(range.substr(dash + 1))))
      return broken(fmt::format("'{}' is no range of numbers", range));
    host += first;
    at = close + 1;
  }
  if (host.empty()) return broken("it names no host");
  return host;
}

core::Result<int> tasksOfNode(std::string_view tasks, int node) {
  const auto broken = [&] { return core::fail(fmt::format("'{}' is not written like '2(x3),1'", tasks)); };
  std::string_view rest = tasks;
  long long first = 0;  // node of the group that `rest` begins with
  while (true) {
    const int count = takeCount(rest);
    if (count == 0) return broken();
    int nodes = 1;
    if (take(rest, "(x")) {
      nodes = takeCount(rest);
      if (nodes == 0 || !take(rest, ")")) return broken();
    }
    first += nodes;
    if (node < first) return count;
    if (rest.empty())
      return core::fail(fmt::format("'{}' has {} nodes, but this is node {}", tasks, first, node));
    if (!take(rest, ",")) return broken();
  }
}

}  // namespace vsim::gpu
