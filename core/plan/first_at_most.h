#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace vsim::core {

/// Finds the first of a list of numbers, from an index on, that is not larger than a limit, in logarithmic
/// time; numbers can be taken out. First fit over many tensors needs no pass over all of them.
class FirstAtMost {
 public:
  explicit FirstAtMost(std::span<const std::int64_t> values) {
    while (leaves_ < values.size()) leaves_ *= 2;
    least_.assign(2 * leaves_, kGone);
    std::copy(values.begin(), values.end(), least_.begin() + static_cast<std::ptrdiff_t>(leaves_));
    for (std::size_t node = leaves_ - 1; node > 0; --node) update(node);
  }

  /// Index >= from of the first number <= limit; nullopt when there is none.
  [[nodiscard]] std::optional<std::size_t> find(std::size_t from, std::int64_t limit) const {
    if (from >= leaves_) return std::nullopt;
    // Climb to the first subtree right of `from` that has one, then descend to its first.
    std::size_t node = leaves_ + from;
    while (!holds(node, limit)) {
      while (node % 2 == 1) node /= 2;
      if (node == 0) return std::nullopt;
      ++node;
    }
    while (node < leaves_) node = holds(2 * node, limit) ? 2 * node : 2 * node + 1;
    return node - leaves_;
  }

  void remove(std::size_t index) {
    std::size_t node = leaves_ + index;
    least_[node] = kGone;
    while ((node /= 2) > 0) update(node);
  }

 private:
  static constexpr std::int64_t kGone = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] bool holds(std::size_t node, std::int64_t limit) const {
    return least_[node] <= limit && least_[node] != kGone;
  }
  void update(std::size_t node) { least_[node] = std::min(least_[2 * node], least_[2 * node + 1]); }

  std::size_t leaves_ = 1;
  std::vector<std::int64_t> least_;  // a binary tree by levels, root at 1
};

}  // namespace vsim::core
