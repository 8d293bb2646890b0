#include <catch2/catch.hpp>

#include "core/profile/profile.h"
#include "sim/cluster/cluster_catalogue.h"
#include "sim/network/profiled_collectives.h"
#include "tests/folders.h"

using namespace vsim;
using core::CollectiveKind;
using core::Provenance;

namespace {

sim::ProfiledCollectives bundled() {
  const auto profile = core::readProfile(std::string(VSIM_SOURCE_DIR) + "/traces/data/h800_64.yaml");
  INFO((profile ? std::string() : core::text(profile.error())));
  REQUIRE(profile.has_value());
  return sim::ProfiledCollectives(sim::CollectiveModel(sim::clusterPreset("h800-rail-optimized").value()),
                                  *profile);
}

}  // namespace

TEST_CASE("the bundled profile gives its own points back", "[network]") {
  const sim::ProfiledCollectives network = bundled();
  const core::Cost gather = network.cost(CollectiveKind::allGather, 6'426'160'384, {"g", 64, 1});
  CHECK(core::secondsFromPicoseconds(gather.time) == Approx(43.71e-3));
  CHECK(gather.provenance == Provenance::published);
  const core::Cost reduce =
      network.cost(CollectiveKind::reduceScatter, 12'852'320'768, {"g", 64, 1}, true, core::DType::fp32);
  CHECK(core::secondsFromPicoseconds(reduce.time) == Approx(94.24e-3));
  core::Operation copy;
  copy.name = "copy_out";
  copy.bytesRead = copy.bytesWritten = 6'426'160'384;
  REQUIRE(core::matchOperation(network.profile(), copy));
  CHECK(core::matchOperation(network.profile(), copy)->provenance == Provenance::published);
}

TEST_CASE("larger groups are re-derived from the fit, other kinds modelled", "[network]") {
  const sim::ProfiledCollectives network = bundled();
  const core::Cost small = network.cost(CollectiveKind::allGather, 6'426'160'384, {"g", 64, 1});
  const core::Cost large = network.cost(CollectiveKind::allGather, 6'426'160'384, {"g", 1024, 1});
  CHECK(large.provenance == Provenance::fitted);
  CHECK(large.time > small.time);
  CHECK(core::secondsFromPicoseconds(large.time) < 55e-3);
  CHECK(large.relativeError > 0);
  CHECK(large.relativeError < 0.2);
  CHECK(network.cost(CollectiveKind::allGather, 1 << 30, {"g", 8, 1}).provenance == Provenance::modelled);
  CHECK(network.cost(CollectiveKind::allToAll, 1 << 26, {"g", 64, 1}).provenance == Provenance::modelled);
  CHECK(network.cost(CollectiveKind::allReduce, 1 << 26, {"g", 10, 1024}).provenance == Provenance::modelled);
  const core::Cost misaligned = network.cost(CollectiveKind::allGather, 6'426'160'384, {"g", 64, 1}, false);
  CHECK(misaligned.time == small.time);  // the point, with whatever alignment it was measured
}

TEST_CASE("without a profile everything is modelled", "[network]") {
  const sim::CollectiveModel model(sim::clusterPreset("h100-rail-optimized").value());
  const sim::ProfiledCollectives network(model);
  const core::CommGroup group{"g", 64, 1};
  CHECK(network.cost(CollectiveKind::allGather, 1 << 28, group).time ==
        model.cost(CollectiveKind::allGather, 1 << 28, group).time);
  CHECK(network.cost(CollectiveKind::allGather, 1 << 28, group).provenance == Provenance::modelled);
  CHECK(network.fitted(CollectiveKind::allGather) == nullptr);
}
