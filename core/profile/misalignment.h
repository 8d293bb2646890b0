#pragma once

#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "core/profile/profile.h"

namespace vsim::core {

/// How many times longer misaligned collectives take than aligned ones, by kind, from the sizes that a
/// profile has measured both ways. Immutable and thread-safe.
class Misalignment {
 public:
  explicit Misalignment(const Profile& profile);

  /// The factor of the group that is most like the query's, interpolated over the size and held beyond the
  /// smallest and largest. nullopt: nothing of the kind was measured both ways.
  [[nodiscard]] std::optional<double> factor(const CollectiveQuery& query) const;

 private:
  using Group = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // ranks, ranks per node, stride
  using Curve = std::map<double, double>;                              // log2 of bytes: factor
  std::array<std::map<Group, Curve>, std::size(kCollectiveNames)> curves_;
};

}  // namespace vsim::core
