// The host executor calibrated for a program of its own: every cost is there, and none is absurd.

#include "gpu/host/host_machine.h"

#include <catch2/catch.hpp>

#include "gpu/calibrate/calibration.h"
#include "tests/gpu/support/conformance_cases.h"

using namespace vsim;
using namespace vsim::gpu;

TEST_CASE("calibration: the host executor's profile has all costs of a program") {
  for (const int ranks : {2, 4}) {
    INFO(ranks << " ranks");
    const auto job = singleProcessJob();
    auto machine = makeHostMachine({.ranks = ranks}, *job, nullptr);
    REQUIRE(machine);
    test::ConformanceCase what;
    what.model.layers = 1;
    what.options.parallel.fsdp = ranks;
    const auto program = test::programOf(*core::findSystem("fsdp2"), what);
    CalibrationOptions options;
    options.budgetSeconds = 30;  // ends long before on a machine of its own
    options.targetError = 10;    // few results each are enough here
    options.grids = false;
    options.programs = {program};
    const auto found = calibrate(**machine, options);
    if (!found) FAIL(found.error().text());
    CHECK(found->profile.hardware->executor == "host");
    REQUIRE(found->profile.host);
    CHECK(found->profile.host->launch < 1e-3);
    CHECK(found->profile.host->call < 1e-2);
    for (const core::Operation& op : program->operations) {
      INFO(op.name);
      const auto cost = core::matchOperation(found->profile, op);
      REQUIRE(cost);
      CHECK(cost->time > 0);
      CHECK(cost->time < core::kPicosecondsPerSecond);
    }
    for (const core::Collective& c : program->collectives) {
      const core::CommGroup& group = program->groups[c.group];
      if (group.size < 2) continue;
      const auto cost = core::matchCollective(
          found->profile, {.kind = c.kind,
                           .bytes = std::max(c.sendElements, c.receiveElements) * core::bytesOf(c.dtype),
                           .ranks = group.size,
                           .ranksPerNode = group.size,
                           .stride = group.stride,
                           .dtype = c.dtype,
                           .aligned = c.aligned16});
      REQUIRE(cost);
      CHECK(cost->time > 0);
    }
  }
}
