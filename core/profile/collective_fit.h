#pragma once

#include <array>
#include <optional>

#include "core/profile/profile.h"

namespace vsim::core {

/// What multiplies the four terms of a collective on a group: hops inside nodes, hops between nodes, and the
/// bytes over the slowest link. Ring (all-gather, reduce-scatter, broadcast): one hop per rank, one of them
/// per node between nodes. All-reduce: a chain in the node and a tree over nodes, twice. All-to-all: one hop
/// per peer. Bytes between nodes are those of one rank's share of the NICs, so that a term fitted on groups
/// with eight ranks a node holds for groups with one.
std::array<double, kLinkTerms> linkFactors(CollectiveKind, Bytes bytes, std::int64_t ranks,
                                           std::int64_t ranksPerNode);

/// Terms of one kind of collective. Bandwidths are kept as seconds per byte.
struct FittedCollective {
  CollectiveKind kind = CollectiveKind::allGather;
  std::array<double, kLinkTerms> value{};
  std::array<double, kLinkTerms> standardError{};
  std::array<bool, kLinkTerms> known{};
  std::array<bool, kLinkTerms> modelled{};  // stated by the profile as modelled, not fitted to anything
  std::array<bool, kLinkTerms> stated{};    // by the profile
  /// Sizes of the messages that a fitted bandwidth rests on; 0 where it is stated.
  std::array<Bytes, kLinkTerms> smallest{}, largest{};
  int points = 0;
  double meanAbsoluteError = 0;  // over the points

  struct Prediction {
    double seconds = 0;
    double relativeError = 0;
    Provenance provenance = Provenance::fitted;  // modelled when a modelled term makes up most of the time
  };
  /// nullopt when a term that the group needs is unknown, or when `bytes` is further than a factor of kReach
  /// from points that cannot tell latency from bandwidth: all of about one size (less than kSpan apart, and
  /// no latency stated), or, upwards, all below kSmallMessage.
  static constexpr Bytes kSmallMessage = Bytes{4} << 20U;
  static constexpr Bytes kSpan = 8, kReach = 16;
  [[nodiscard]] std::optional<Prediction> predict(Bytes bytes, std::int64_t ranks,
                                                  std::int64_t ranksPerNode) const;

 private:
  [[nodiscard]] bool reaches(Bytes bytes, const std::array<double, kLinkTerms>& factor) const;
};

/// Weighted least squares on relative errors over the profile's points of `kind`; terms the profile states
/// are kept. Terms stay non-negative. Where points cannot tell two latencies apart, the one between nodes
/// takes both. nullopt when the profile has neither a point nor a term for the kind.
std::optional<FittedCollective> fitCollective(const Profile&, CollectiveKind);

}  // namespace vsim::core
