#include "core/report/report.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <random>

#include "core/report/timeline.h"
#include "tests/support/sample_log.h"

namespace vsim::core {
namespace {

RunReport sampleReport() {
  return makeReport(test::sampleLog(), test::sampleFacts(), test::sampleHardware());
}

Approx near(double value) { return Approx(value).epsilon(1e-9).margin(1e-15); }

}  // namespace

TEST_CASE("Times come from the last step") {
  const RunReport report = sampleReport();
  REQUIRE(report.completed);
  CHECK(report.stepSeconds == near(0.100));
  CHECK(report.computeSeconds == near(0.065));       // 20 + 4 + 36 + 5
  CHECK(report.commSeconds == near(0.036));          // 8 + 8 + 20
  CHECK(report.exposedCommSeconds == near(0.018));   // 2-10 and 70-80
  CHECK(report.bubbleSeconds == near(0.017));        // 0-2, 80-85, 90-100
  CHECK(report.bubbleCopiesSeconds == near(0.002));  // 80-82
}

TEST_CASE("Rates and utilisation follow the documented formulas") {
  const RunReport report = sampleReport();
  CHECK(report.tokensPerSecond == near(1e6));
  CHECK(report.tokensPerSecondPerGpu == near(125e3));
  const double perToken = 6e9 + 12.0 * 10 * 16 * 128 * 4096;
  CHECK(modelFlopsPerToken(test::sampleFacts()) == near(perToken));
  CHECK(report.mfu == near(125e3 * perToken / 989.4e12));
  CHECK(report.hfu == near(125e3 * (perToken + 2e9) / 989.4e12));
}

TEST_CASE("Phases share out every instant of the step") {
  const RunReport report = sampleReport();
  REQUIRE(report.phases.size() == 5);
  double sum = 0;
  for (const PhaseRow& row : report.phases) {
    sum += row.seconds;
    CHECK(row.seconds == near(row.computeSeconds + row.exposedSeconds + row.idleSeconds));
  }
  CHECK(sum == near(report.stepSeconds));
  const PhaseRow& forward = report.phases[0];
  CHECK(forward.phase == Phase::forward);
  CHECK(forward.computeSeconds == near(0.020));
  CHECK(forward.commSeconds == near(0.008));
  CHECK(forward.exposedSeconds == near(0.008));
  CHECK(forward.idleSeconds == near(0.002));
  const PhaseRow& backward = report.phases[2];
  CHECK(backward.phase == Phase::backward);
  CHECK(backward.commSeconds == near(0.008));
  CHECK(backward.exposedSeconds == 0.0);
  const PhaseRow& optimizer = report.phases[4];
  CHECK(optimizer.phase == Phase::optimizer);
  CHECK(optimizer.idleSeconds == near(0.015));  // waits for it, and drains after it
}

TEST_CASE("Collectives are counted as nccl-tests counts them") {
  const RunReport report = sampleReport();
  REQUIRE(report.collectives.size() == 2);
  const CollectiveRow& reduce = report.collectives[0];
  CHECK(reduce.kind == CollectiveKind::reduceScatter);
  CHECK(reduce.bytes == 16'000'000);
  CHECK(reduce.busBandwidth == near(16e6 / 0.020 * 0.75));
  const CollectiveRow& gather = report.collectives[1];
  CHECK(gather.count == 2);
  CHECK(gather.group == "dp_shard");
  CHECK(gather.groupSize == 4);
  CHECK(gather.bytes == 16'000'000);
  CHECK(gather.seconds == near(0.016));
}

TEST_CASE("Provenance shares sum to one, idle time is modelled") {
  const RunReport report = sampleReport();
  const auto share = [&](Provenance p) { return report.provenance[static_cast<std::size_t>(p)]; };
  CHECK(std::accumulate(report.provenance.begin(), report.provenance.end(), 0.0) == near(1));
  CHECK(share(Provenance::measured) == near(0.08));
  CHECK(share(Provenance::fitted) == near(0.56));
  CHECK(share(Provenance::published) == near(0.10));
  CHECK(share(Provenance::modelled) == near(0.26));
}

TEST_CASE("The error bar adds errors of one kind and takes the kinds as independent") {
  CostErrors errors;
  errors.operations = {0.05, 0.05, 0.05, 0.05, 0.05};
  errors.collectives = {0.2, 0.1};
  const RunReport report =
      makeReport(test::sampleLog(), test::sampleFacts(), test::sampleHardware(), &errors);
  REQUIRE(report.relativeError.has_value());
  CHECK(*report.relativeError == near(std::hypot(65 * 0.05, 8 * 0.2 + 10 * 0.1) / 100));
  CHECK_FALSE(sampleReport().relativeError.has_value());
}

TEST_CASE("Memory is that of the worst class, with context and NCCL beside it") {
  ExecutionLog log = test::sampleLog();
  RankLog other = log.ranks[0];
  other.name = "roots";
  other.peak.allocated = 12'000'000;
  other.peak.reserved = 15'000'000;
  other.peak.byCategory = {2'000'000, 0, 2'000'000, 8'000'000, 0, 0, 0, 0, 0};
  log.ranks.push_back(other);
  const RunReport report = makeReport(log, test::sampleFacts(), test::sampleHardware());
  CHECK(report.worstMemoryRanks == "roots");
  CHECK(report.peakAllocated == 12'000'000);
  CHECK(report.peakReserved == 20'971'520);
  CHECK(report.memoryByCategory[8] == 1'500'000);
  const Bytes inside =
      std::accumulate(report.memoryByCategory.begin(), report.memoryByCategory.end() - 1, Bytes{0});
  CHECK(inside == report.peakAllocated);
  CHECK(report.marginBytes == 80'000'000 - 20'971'520 - 1'500'000);
  CHECK(report.fits);
}

TEST_CASE("What does not fit is said by how much") {
  HardwareFacts hardware = test::sampleHardware();
  hardware.capacityBytes = 22'000'000;
  const RunReport report = makeReport(test::sampleLog(), test::sampleFacts(), hardware);
  CHECK_FALSE(report.fits);
  CHECK(report.marginBytes == 22'000'000 - 22'471'520);
}

TEST_CASE("A run that ran out of memory before its first step ends has no times") {
  ExecutionLog log = test::sampleLog();
  log.ranks[0].stepEnd.clear();
  log.ranks[0].peak.outOfMemory = true;
  log.ranks[0].peak.outOfMemoryBuffer = "ag_out(L1)";
  const RunReport report = makeReport(log, test::sampleFacts(), test::sampleHardware());
  CHECK_FALSE(report.completed);
  CHECK_FALSE(report.fits);
  CHECK(report.outOfMemoryBuffer == "ag_out(L1)");
  CHECK(report.phases.empty());
}

TEST_CASE("The slowest class decides the step time") {
  ExecutionLog log = test::sampleLog();
  log.ranks.push_back(log.ranks[0]);
  log.ranks[1].name = "slow";
  log.ranks[1].stepEnd.back() += picosecondsFromSeconds(0.010);
  const RunReport report = makeReport(log, test::sampleFacts(), test::sampleHardware());
  CHECK(report.slowestRanks == "slow");
  CHECK(report.stepSeconds == near(0.110));
}

TEST_CASE("Random timelines: the parts always make up the step") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    ExecutionLog log = test::sampleLog();
    std::vector<bool> busy[3];
    for (auto& list : busy) list.assign(1000, false);
    RankLog& ranks = log.ranks[0];
    ranks.stepBegin = {0};
    ranks.stepEnd = {1000};
    for (Slice& slice : ranks.slices) {
      slice.step = 0;
      slice.begin = static_cast<Picoseconds>(random() % 900);
      slice.end = slice.begin + static_cast<Picoseconds>(random() % 100);
      const bool collective = log.program->step[slice.instruction].kind == InstructionKind::collective;
      auto& list = busy[collective ? 1 : slice.stream == 0 ? 0 : 2];
      for (Picoseconds t = slice.begin; t < slice.end; ++t) list[static_cast<std::size_t>(t)] = true;
    }
    std::size_t compute = 0, comm = 0, exposed = 0, idle = 0, copies = 0;
    for (std::size_t t = 0; t < 1000; ++t) {
      compute += busy[0][t];
      comm += busy[1][t];
      exposed += busy[1][t] && !busy[0][t];
      idle += !busy[0][t] && !busy[1][t];
      copies += !busy[0][t] && !busy[1][t] && busy[2][t];
    }
    const RunReport report = makeReport(log, test::sampleFacts(), test::sampleHardware());
    const auto picoseconds = [](double seconds) { return static_cast<std::size_t>(seconds * 1e12 + 0.5); };
    REQUIRE(picoseconds(report.computeSeconds) == compute);
    REQUIRE(picoseconds(report.commSeconds) == comm);
    REQUIRE(picoseconds(report.exposedCommSeconds) == exposed);
    REQUIRE(picoseconds(report.bubbleSeconds) == idle);
    REQUIRE(picoseconds(report.bubbleCopiesSeconds) == copies);
    double phases = 0;
    for (const PhaseRow& row : report.phases) phases += row.seconds;
    REQUIRE(phases == near(report.stepSeconds));
    REQUIRE(std::accumulate(report.provenance.begin(), report.provenance.end(), 0.0) == near(1));
  }
}

}  // namespace vsim::core
