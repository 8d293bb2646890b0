#include <catch2/catch.hpp>

#include "sim/cluster/cluster_catalogue.h"
#include "sim/network/profiled_collectives.h"

using namespace vsim;
using core::Bytes;
using core::CollectiveKind;
using core::Provenance;

namespace {

core::ProfiledCollective point(Bytes bytes, double seconds, bool aligned = true, std::int64_t ranks = 8,
                               std::int64_t perNode = 8, std::int64_t stride = 1) {
  core::ProfiledCollective p;
  p.bytes = bytes;
  p.ranks = ranks;
  p.ranksPerNode = perNode;
  p.stride = stride;
  p.seconds = seconds;
  p.aligned = aligned;
  return p;
}

sim::ProfiledCollectives network(core::Profile profile) {
  return sim::ProfiledCollectives(sim::CollectiveModel(sim::clusterPreset("h100-rail-optimized").value()),
                                  std::move(profile));
}

double seconds(const core::Cost& cost) { return core::secondsFromPicoseconds(cost.time); }

constexpr Bytes kSize = Bytes{64} << 20;

}  // namespace

TEST_CASE("a misaligned point is taken for misaligned collectives as it is", "[network]") {
  core::Profile profile;
  profile.collectives = {point(kSize, 1e-3), point(kSize, 4e-3, false)};
  const auto n = network(profile);
  CHECK(seconds(n.cost(CollectiveKind::allGather, kSize, {"g", 8, 1})) == Approx(1e-3));
  const core::Cost misaligned = n.cost(CollectiveKind::allGather, kSize, {"g", 8, 1}, false);
  CHECK(seconds(misaligned) == Approx(4e-3));
  CHECK(misaligned.provenance == Provenance::measured);
}

TEST_CASE("aligned points pay the model's factor only when nothing misaligned was measured", "[network]") {
  core::Profile profile;
  profile.collectives = {point(kSize, 1e-3)};
  const auto n = network(profile);
  const auto& model = n.model();
  const double factor = model.explain(CollectiveKind::allGather, kSize, {"g", 8, 1}, false).seconds() /
                        model.explain(CollectiveKind::allGather, kSize, {"g", 8, 1}, true).seconds();
  REQUIRE(factor > 1.05);
  const core::Cost misaligned = n.cost(CollectiveKind::allGather, kSize, {"g", 8, 1}, false);
  CHECK(seconds(misaligned) == Approx(factor * 1e-3));
  CHECK(misaligned.provenance == Provenance::fitted);
  CHECK(misaligned.relativeError > n.cost(CollectiveKind::allGather, kSize, {"g", 8, 1}).relativeError);
}

TEST_CASE("the measured factor carries over to other sizes and groups of the kind", "[network]") {
  core::Profile profile;
  // Twice as long at 16 MiB, four times at 256 MiB.
  profile.collectives = {point(Bytes{16} << 20, 1e-3),
                         point(Bytes{16} << 20, 2e-3, false),
                         point(Bytes{256} << 20, 8e-3),
                         point(Bytes{256} << 20, 32e-3, false),
                         point(kSize, 3e-3),
                         point(kSize, 10e-3, true, 16)};
  const core::Misalignment misalignment(profile);
  const auto factor = [&](Bytes bytes, std::int64_t ranks) {
    return misalignment.factor(
        {.kind = CollectiveKind::allGather, .bytes = bytes, .ranks = ranks, .ranksPerNode = 8});
  };
  CHECK(*factor(kSize, 8) == Approx(3));  // half way in the logarithm
  CHECK(*factor(1024, 8) == Approx(2));
  CHECK(*factor(Bytes{1} << 33, 8) == Approx(4));
  CHECK(*factor(kSize, 16) == Approx(3));
  CHECK_FALSE(misalignment.factor({.kind = CollectiveKind::allReduce, .bytes = kSize, .ranks = 8}));
  const auto n = network(profile);
  const core::Cost wide = n.cost(CollectiveKind::allGather, kSize, {"g", 16, 1}, false);
  CHECK(seconds(wide) == Approx(30e-3));
  CHECK(wide.provenance == Provenance::fitted);
}

TEST_CASE("points that serve either way are no comparison", "[network]") {
  core::Profile profile;
  profile.collectives = {point(kSize, 1e-3)};
  profile.collectives[0].anyAlignment = true;
  const auto n = network(profile);
  CHECK(n.cost(CollectiveKind::allGather, kSize, {"g", 8, 1}, false).time ==
        n.cost(CollectiveKind::allGather, kSize, {"g", 8, 1}, true).time);
  profile.collectives.push_back(point(kSize, 9e-3, false));
  CHECK_FALSE(core::Misalignment(profile).factor(
      {.kind = CollectiveKind::allGather, .bytes = kSize, .ranks = 8, .ranksPerNode = 8}));
}

TEST_CASE("strided groups across nodes match points of their stride first", "[network]") {
  core::Profile profile;
  profile.collectives = {point(kSize, 50e-3, true, 8, 1, 8), point(kSize, 70e-3, true, 8, 1, 16)};
  const auto n = network(profile);
  CHECK(seconds(n.cost(CollectiveKind::allGather, kSize, {"g", 8, 8})) == Approx(50e-3));
  CHECK(n.cost(CollectiveKind::allGather, kSize, {"g", 8, 8}).provenance == Provenance::measured);
  CHECK(seconds(n.cost(CollectiveKind::allGather, kSize, {"g", 8, 16})) == Approx(70e-3));
  const core::Cost other = n.cost(CollectiveKind::allGather, kSize, {"g", 8, 32});
  CHECK(other.provenance == Provenance::fitted);
  CHECK(seconds(other) == Approx(50e-3));
  CHECK(other.relativeError > profile.collectives[0].origin.relativeError);
  // Inside a node the stride says nothing.
  profile.collectives = {point(kSize, 5e-3, true, 4, 4, 1)};
  CHECK(network(profile).cost(CollectiveKind::allGather, kSize, {"g", 4, 2}).provenance ==
        Provenance::measured);
}

TEST_CASE("slowdown and stretch come from the nearest measured interference", "[network]") {
  core::Profile profile;
  profile.interference = {{CollectiveKind::allGather, Bytes{1} << 20, 8, 8, 0.1, 0.5, {}},
                          {CollectiveKind::allGather, Bytes{1} << 28, 8, 8, 0.2, 0.9, {}},
                          {CollectiveKind::allGather, Bytes{1} << 28, 4, 4, 0.3, 0.3, {}},
                          {CollectiveKind::allGather, Bytes{1} << 28, 32, 8, 0.4, 0.2, {}}};
  const auto n = network(profile);
  const auto cost = [&](Bytes bytes, std::int64_t ranks, CollectiveKind kind = CollectiveKind::allGather) {
    return n.cost(kind, bytes, {"g", ranks, 1});
  };
  CHECK(cost(Bytes{1} << 22, 8).stretch == 0.5);
  CHECK(cost(Bytes{1} << 26, 8).stretch == 0.9);
  CHECK(cost(Bytes{1} << 26, 8).slowdown == 0.2);
  CHECK(cost(Bytes{1} << 20, 4).stretch == 0.3);
  CHECK(cost(Bytes{1} << 20, 1024).slowdown == 0.4);  // across nodes: of the nearest such group
  const core::Cost reduce = cost(Bytes{1} << 28, 8, CollectiveKind::allReduce);
  CHECK(reduce.stretch == 0);
  CHECK(reduce.slowdown == n.model().cost(CollectiveKind::allReduce, Bytes{1} << 28, {"g", 8, 1}).slowdown);
}

TEST_CASE("what crosses a level that was not measured counts as modelled", "[network]") {
  core::Profile profile;
  profile.collectives = {point(kSize, 1e-3), point(kSize, 20e-3, true, 16)};
  profile.hardware.emplace();
  profile.hardware->measured = {core::Locality::node};
  profile.hardware->missing = {core::Locality::nodes, core::Locality::racks};
  const auto n = network(profile);
  const core::Cost inside = n.cost(CollectiveKind::allGather, kSize, {"g", 8, 1});
  CHECK(inside.provenance == Provenance::measured);
  const core::Cost across = n.cost(CollectiveKind::allGather, kSize, {"g", 16, 1});
  CHECK(across.provenance == Provenance::modelled);
  CHECK(across.relativeError >= sim::kUnmeasuredLevelError);
  CHECK(n.missingLevel({"g", 16, 1}) == core::Locality::nodes);
  CHECK_FALSE(n.missingLevel({"g", 8, 1}));
  CHECK_FALSE(n.missingLevel({"g", 1, 1}));
  profile.hardware->missing = {core::Locality::racks};
  const auto wide = network(profile);
  CHECK_FALSE(wide.missingLevel({"g", 16, 1}));
  CHECK(wide.missingLevel({"g", 4096, 1}) == core::Locality::racks);
}
