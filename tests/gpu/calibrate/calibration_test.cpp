#include "gpu/calibrate/calibration.h"

#include <catch2/catch.hpp>
#include <set>

#include "gpu/calibrate/grids.h"
#include "gpu/calibrate/measured_profile.h"
#include "gpu/calibrate/measurement_programs.h"
#include "tests/gpu/calibrate/simulated_machine.h"
#include "tests/gpu/support/conformance_cases.h"

using namespace vsim;
using namespace vsim::gpu;

namespace {

CalibrationOptions optionsFor(test::SimulatedMachine& machine, double budget = 600) {
  CalibrationOptions options;
  options.budgetSeconds = budget;
  options.clock = [&machine] { return machine.clock; };
  options.largest = core::Bytes{256} << 20U;
  return options;
}

Calibration calibrated(test::SimulatedMachine& machine, const CalibrationOptions& options) {
  auto done = calibrate(machine, options);
  if (!done) FAIL(done.error().text());
  return *done;
}

core::Collective collectiveFor(const core::ProfiledCollective& point, const core::CommGroup& group) {
  core::Collective c;
  c.kind = point.kind;
  c.dtype = point.dtype.value_or(core::DType::bf16);
  c.sendElements = point.bytes / core::bytesOf(c.dtype);
  c.aligned16 = point.aligned;
  (void)group;
  return c;
}

std::shared_ptr<const core::StepProgram> program(const std::string& system, int ranks, bool experts = false) {
  test::ConformanceCase what;
  what.model.experts = experts;
  what.options.parallel.fsdp = ranks;
  if (experts) what.options.parallel.expert = 2;
  return test::programOf(*core::findSystem(system), what);
}

bool mentions(const std::vector<std::string>& notes, const std::string& text) {
  return std::ranges::any_of(notes, [&](const auto& note) { return note.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("calibration: a simulated machine gives its costs away") {
  for (const double noise : {0.0, 0.05}) {
    test::Truth truth = test::simpleTruth();
    truth.noise = noise;
    test::SimulatedMachine machine(test::factsOf({2, 2}), truth);
    const Calibration found = calibrated(machine, optionsFor(machine));
    CHECK(found.measured == found.planned);
    CHECK(found.profile.collectives.size() > 100);
    CHECK(found.profile.operations.size() > 50);
    // Noise makes things up to 5 % longer: the median half of it; of collectives the shortest of two ranks.
    const double high = 1 + noise * 0.75 + 1e-9;
    for (const core::ProfiledCollective& point : found.profile.collectives) {
      const core::CommGroup group{"g", point.ranks, point.stride};
      const double seconds =
          core::secondsFromPicoseconds(truth.collective(collectiveFor(point, group), group).time);
      INFO(point.bytes << " B, " << point.ranks << " ranks");
      CHECK(point.seconds >= seconds * (1 - 1e-9));
      CHECK(point.seconds <= seconds * high);
      CHECK(point.origin.provenance == core::Provenance::measured);
      CHECK(point.origin.relativeError < 0.02);
    }
    for (const core::ProfiledOperation& point : found.profile.operations) {
      core::Operation op = point.bytes > 0 ? copyOf(point.bytes) : productOf(point.m, point.n, point.k);
      if (point.sequence > 0) op = attentionOf(point.sequence, point.name == "attention.bwd");
      const double seconds = core::secondsFromPicoseconds(truth.operation(op).time);
      INFO(point.name << " " << point.m << " " << point.n << " " << point.k << " " << point.bytes);
      CHECK(point.seconds >= seconds * (1 - 1e-9));
      CHECK(point.seconds <= seconds * high);
    }
  }
}

TEST_CASE("calibration: host costs and interference of a simulated machine") {
  test::SimulatedMachine machine(test::factsOf({8}), test::simpleTruth());
  const Calibration found = calibrated(machine, optionsFor(machine));
  REQUIRE(found.profile.host);
  CHECK(found.profile.host->launch == Approx(5e-6));
  CHECK(found.profile.host->call == Approx(0.7e-6));
  CHECK(found.profile.host->driverAllocate == Approx(150e-6));
  REQUIRE(found.profile.interference.size() >= 4);
  for (const core::ProfiledInterference& point : found.profile.interference) {
    INFO(point.bytes);
    CHECK(point.computeSlowdown == Approx(point.bytes > 1'000'000 ? 0.25 : 0.125).margin(0.01));
    CHECK(point.stretch == Approx(point.bytes > 1'000'000 ? 0.5 : 0.25).margin(0.02));
  }
}

TEST_CASE("calibration: misaligned collectives are measured beside aligned ones") {
  test::SimulatedMachine machine(test::factsOf({8}), test::simpleTruth());
  const Calibration found = calibrated(machine, optionsFor(machine));
  std::set<core::CollectiveKind> kinds;
  for (const core::ProfiledCollective& point : found.profile.collectives) {
    if (point.aligned) continue;
    kinds.insert(point.kind);
    const core::Bytes shard = point.bytes / point.ranks;
    CHECK(shard % 16 != 0);
  }
  CHECK(kinds == std::set{core::CollectiveKind::allGather, core::CollectiveKind::reduceScatter});
  const auto time = [&](bool aligned) {
    const core::CollectiveQuery query{.kind = core::CollectiveKind::allGather,
                                      .bytes = 256 << 20,
                                      .ranks = 8,
                                      .ranksPerNode = 8,
                                      .aligned = aligned};
    const auto cost = core::matchCollective(found.profile, query);
    REQUIRE(cost);
    return static_cast<double>(cost->time);
  };
  CHECK(time(false) / time(true) == Approx(3).epsilon(0.2));  // 40 us of latency apart
}

TEST_CASE("calibration: every kernel and collective of a program is found again") {
  for (const char* system : {"vescale", "fsdp2"})
    for (const bool experts : {false, true}) {
      INFO(system << (experts ? " with experts" : ""));
      test::SimulatedMachine machine(test::factsOf({4}), test::simpleTruth());
      CalibrationOptions options = optionsFor(machine);
      options.grids = false;
      const auto wanted = program(system, 4, experts);
      options.programs = {wanted};
      const Calibration found = calibrated(machine, options);
      for (const core::Operation& op : wanted->operations) {
        const auto cost = core::matchOperation(found.profile, op);
        INFO(op.name);
        REQUIRE(cost);
        CHECK(cost->provenance == core::Provenance::measured);
      }
      for (const core::Collective& c : wanted->collectives) {
        const core::CommGroup& group = wanted->groups[c.group];
        if (group.size < 2) continue;
        const auto cost = core::matchCollective(
            found.profile, {.kind = c.kind,
                            .bytes = std::max(c.sendElements, c.receiveElements) * core::bytesOf(c.dtype),
                            .ranks = group.size,
                            .ranksPerNode = group.size,
                            .stride = group.stride,
                            .dtype = c.dtype,
                            .aligned = c.aligned16});
        REQUIRE(cost);
        CHECK(cost->provenance == core::Provenance::measured);
      }
      CHECK_FALSE(found.profile.interference.empty());
    }
}

TEST_CASE("calibration: the profile says what the machine is and which levels are missing") {
  using enum core::Locality;
  struct Case {
    std::vector<int> hosts;
    std::vector<core::Locality> measured, missing;
    std::string note;
  };
  for (const Case& c : std::vector<Case>{{{1}, {}, {node, nodes, racks}, "the job has one rank"},
                                         {{8}, {node}, {nodes, racks}, "the job has one node"},
                                         {{4, 4, 4}, {node, nodes}, {racks}, "racks of the nodes"}}) {
    test::SimulatedMachine machine(test::factsOf(c.hosts), test::simpleTruth());
    const Calibration found = calibrated(machine, optionsFor(machine, 5));
    REQUIRE(found.profile.hardware);
    CHECK(found.profile.hardware->measured == c.measured);
    CHECK(found.profile.hardware->missing == c.missing);
    CHECK(mentions(found.notes, c.note));
    CHECK(found.profile.hardware->device == "Simulated H200");
    CHECK(found.profile.hardware->cluster.gpusPerNode == c.hosts.front());
    CHECK(found.profile.hardware->cluster.gpu.family == "H200");
    CHECK(found.profile.hardware->cluster.gpu.peakBf16 > 4e14);
    CHECK(found.profile.hardware->cluster.gpu.hbmBytesPerSecond == Approx(3e12).epsilon(0.05));
    CHECK(found.profile.hardware->versions.front().first == "driver");
    CHECK(found.profile.gpus == machine.ranks());
  }
}

TEST_CASE("calibration: the memory's rate is that of copies which no cache holds") {
  test::Truth truth = test::simpleTruth();
  truth.operation = [](const core::Operation& op) {
    const double bytes = static_cast<double>(op.bytesRead + op.bytesWritten);
    const double rate = bytes < 100e6 ? 9e12 : 3e12;
    return core::Cost{.time = core::picosecondsFromSeconds(op.flops / 5e14 + bytes / rate)};
  };
  test::SimulatedMachine machine(test::factsOf({1}), truth);
  const Calibration whole = calibrated(machine, optionsFor(machine));
  CHECK(whole.profile.hardware->cluster.gpu.hbmBytesPerSecond == Approx(3e12).epsilon(0.05));

  // No memory for large copies: the largest there is.
  MachineFacts facts = test::factsOf({1});
  facts.ranks.front().freeMemory = core::Bytes{200} << 20U;
  test::SimulatedMachine small(facts, truth);
  const Calibration part = calibrated(small, optionsFor(small));
  CHECK(part.profile.hardware->cluster.gpu.hbmBytesPerSecond == Approx(9e12).epsilon(0.05));
  CHECK(part.profile.hardware->cluster.gpu.memory == core::Bytes{66} << 30U);  // all, free or not
}

TEST_CASE("calibration: cards that are much slower than the fastest are none of the cluster's network") {
  MachineFacts facts = test::factsOf({2, 2});
  for (int i = 0; i < 8; ++i) facts.ranks.front().nics.push_back({"mlx5_" + std::to_string(i), 50e9});
  facts.ranks.front().nics.push_back({"eth0", 3.125e9});
  facts.ranks.front().nics.push_back({"eth1", 0});
  CHECK(clusterOf(facts).nicsPerNode == 8);
  CHECK(clusterOf(facts).nicBytesPerSecond == 50e9);
  facts.ranks.front().nics[3].bytesPerSecond = 25e9;  // of another generation
  CHECK(clusterOf(facts).nicsPerNode == 8);
  facts.ranks.front().nics = {{"eth0", 0}, {"eth1", 0}};  // rates that nobody knows
  CHECK(clusterOf(facts).nicsPerNode == 2);
  facts.ranks.front().nics.clear();
  CHECK(clusterOf(facts).nicsPerNode == 0);
}

TEST_CASE("calibration: a cut budget is kept and leaves a usable profile") {
  for (const double budget : {0.05, 0.3, 2.0}) {
    INFO(budget << " s");
    test::SimulatedMachine machine(test::factsOf({8, 8}), test::simpleTruth());
    const Calibration found = calibrated(machine, optionsFor(machine, budget));
    CHECK(machine.clock <= budget + 0.1);
    CHECK(found.seconds == Approx(machine.clock));
    CHECK(found.measured < found.planned);
    CHECK((mentions(found.notes, "the time ended before") || mentions(found.notes, "share of the time")));
    CHECK(found.profile.host);
    if (budget >= 0.3) CHECK(found.profile.hardware->measured.size() == 2);
  }
}

TEST_CASE("calibration: noise ends, and is said") {
  test::Truth truth = test::simpleTruth();
  truth.noise = 20;
  test::SimulatedMachine machine(test::factsOf({2}), truth);
  CalibrationOptions options = optionsFor(machine, 10);
  options.targetError = 1e-6;
  const Calibration found = calibrated(machine, options);
  CHECK(machine.clock <= 11);
  CHECK(mentions(found.notes, "less certain"));
  CHECK(machine.executions <= 12 * found.planned);
}

TEST_CASE("calibration: a machine that becomes slower is noted") {
  test::Truth truth = test::simpleTruth();
  truth.slowerEachRun = 0.1;
  truth.noise = 0.02;  // else the first execution settles everything
  test::SimulatedMachine machine(test::factsOf({2}), truth);
  CalibrationOptions options = optionsFor(machine, 30);
  options.targetError = 1e-6;
  options.largest = core::Bytes{1} << 20U;
  const Calibration found = calibrated(machine, options);
  CHECK(mentions(found.notes, "changed its speed"));
  CHECK(found.profile.hardware->remark.find("changed its speed") != std::string::npos);
}

TEST_CASE("calibration: progress goes from 0 to 1 and names what is measured") {
  test::SimulatedMachine machine(test::factsOf({2}), test::simpleTruth());
  CalibrationOptions options = optionsFor(machine, 5);
  double last = 0;
  int calls = 0;
  options.progress = [&](const std::string& what, double fraction, double remaining) {
    CHECK_FALSE(what.empty());
    CHECK(fraction >= last);
    CHECK(remaining >= 0);
    CHECK(remaining <= 5);
    last = fraction;
    ++calls;
  };
  const Calibration found = calibrated(machine, options);
  CHECK(last == 1);
  CHECK(calls > found.measured);
}

TEST_CASE("calibration: sizes beyond the memory are left out") {
  MachineFacts facts = test::factsOf({2});
  for (RankFacts& rank : facts.ranks) rank.freeMemory = core::Bytes{64} << 20U;
  test::SimulatedMachine machine(facts, test::simpleTruth());
  CalibrationOptions options = optionsFor(machine);
  options.largest = core::Bytes{8} << 30U;
  const Calibration found = calibrated(machine, options);
  for (const core::ProfiledCollective& point : found.profile.collectives)
    CHECK(point.bytes <= core::Bytes{64} << 20U);
  CHECK(found.measured > 0);
}

TEST_CASE("calibration: options that make no sense are refused") {
  test::SimulatedMachine machine(test::factsOf({2}), test::simpleTruth());
  const auto refused = [&](const auto& change) {
    CalibrationOptions options = optionsFor(machine);
    change(options);
    const auto done = calibrate(machine, options);
    return !done && !done.error().hint.empty();
  };
  CHECK(refused([](auto& o) { o.budgetSeconds = 0; }));
  CHECK(refused([](auto& o) { o.budgetSeconds = std::numeric_limits<double>::quiet_NaN(); }));
  CHECK(refused([](auto& o) { o.targetError = 0; }));
  CHECK(refused([](auto& o) { o.smallest = 0; }));
  CHECK(refused([](auto& o) { o.largest = 1; }));
  CHECK(machine.executions == 0);
}

TEST_CASE("calibration: the profile survives its file") {
  test::SimulatedMachine machine(test::factsOf({4, 4}), test::simpleTruth());
  CalibrationOptions options = optionsFor(machine, 10);
  options.started = "2026-11-30T12:00:00Z";
  options.programs = {program("fsdp2", 8)};
  const Calibration found = calibrated(machine, options);
  core::Profile profile = found.profile;
  profile.name = "simulated";
  const auto read = core::parseProfile(core::profileText(profile), "profile.yaml");
  if (!read) FAIL(core::text(read.error()));
  const core::Profile sorted = core::sortedProfile(profile);
  CHECK(read->collectives == sorted.collectives);
  CHECK(read->operations == sorted.operations);
  CHECK(read->interference == sorted.interference);
  CHECK(read->host == sorted.host);
  CHECK(read->hardware == sorted.hardware);
  CHECK(profile.source.find("2026-11-30T12:00:00Z") != std::string::npos);
}
