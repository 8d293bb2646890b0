#include "core/report/verdict.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>

#include "core/report/timeline.h"
#include "tests/support/sample_log.h"

using namespace vsim::core;

namespace {

constexpr Picoseconds kMs = 1'000'000'000;

/// A step of one program: forward kernel, all-gather, another kernel; times in ms after the step's begin.
std::shared_ptr<const StepProgram> program() {
  StepProgram p;
  p.system = "vescale";
  p.streams = {"default", "AG"};
  p.groups = {{"dp_shard", 2, 1}};
  p.operations.resize(2);
  p.operations[0].name = "q_proj";
  p.operations[1].name = "adamw";
  for (Index i : {0U, 1U}) {
    Kernel kernel;
    kernel.operation = i;
    p.kernels.push_back(kernel);
  }
  Collective gather;
  gather.sendElements = 10;
  gather.receiveElements = 20;
  p.collectives = {gather};
  const auto add = [&](InstructionKind kind, StreamId stream, Phase phase, Index operand) {
    Instruction i;
    i.kind = kind;
    i.stream = stream;
    i.phase = phase;
    i.operand = operand;
    p.step.push_back(i);
  };
  add(InstructionKind::kernel, 0, Phase::forward, 0);
  add(InstructionKind::collective, 1, Phase::backward, 0);
  add(InstructionKind::kernel, 0, Phase::optimizer, 1);
  return std::make_shared<const StepProgram>(std::move(p));
}

struct Times {
  double issued, begin, end;
};
struct Step {
  double length;
  std::array<Times, 3> slices;
};

RankLog rankLog(const std::vector<Step>& steps, std::int64_t rank = 0) {
  RankLog log;
  log.firstRank = rank;
  double origin = 0;
  const auto at = [](double ms) { return static_cast<Picoseconds>(ms * static_cast<double>(kMs)); };
  for (std::size_t s = 0; s < steps.size(); ++s) {
    log.stepBegin.push_back(at(origin));
    for (Index i = 0; i < 3; ++i) {
      Slice slice;
      slice.instruction = i;
      slice.stream = i == 1 ? 1 : 0;
      slice.step = static_cast<std::uint8_t>(s);
      slice.issued = at(origin + steps[s].slices[i].issued);
      slice.begin = at(origin + steps[s].slices[i].begin);
      slice.end = at(origin + steps[s].slices[i].end);
      log.slices.push_back(slice);
    }
    origin += steps[s].length;
    log.stepEnd.push_back(at(origin));
  }
  return log;
}

ExecutionLog logOf(std::vector<RankLog> ranks, const std::shared_ptr<const StepProgram>& p,
                   const char* name) {
  ExecutionLog log;
  log.executor = name;
  log.program = p;
  log.ranks = std::move(ranks);
  return log;
}

// q_proj 1-5 (issued at 1: launch 0-1), gather 4-8 issued at 0 (exposed 5-8), idle 8-9 and then adamw 9-10
// issued at 2.
const Step kTen{10, {{{1, 1, 5}, {0, 4, 8}, {2, 9, 10}}}};
// The same without idle times and with a gather of 2 ms: q_proj 0-4, gather 4-6, adamw 6-7.
const Step kSeven{7, {{{0, 0, 4}, {0, 4, 6}, {0, 6, 7}}}};

const VerdictPart& part(const Verdict& v, PartKind kind) {
  for (const VerdictPart& each : v.contributors)
    if (each.kind == kind && each.name != "adamw") return each;
  throw std::runtime_error("no such part");
}

}  // namespace

TEST_CASE("Verdict of one measured step: every figure by hand") {
  const auto p = program();
  const auto verdict =
      makeVerdict(logOf({rankLog({kTen})}, p, "host"), logOf({rankLog({kSeven})}, p, "simulator"), 0);
  REQUIRE(verdict);
  const Verdict& v = *verdict;
  CHECK(v.system == "vescale");
  CHECK(v.executor == "host");
  CHECK(v.ranks == 1);
  CHECK(v.stepSeconds.measured == Approx(0.010));
  CHECK(v.stepSeconds.predicted == Approx(0.007));
  CHECK(*v.stepSeconds.error() == Approx(-0.3));
  CHECK(v.computeSeconds.measured == Approx(0.005));
  CHECK(v.computeSeconds.predicted == Approx(0.005));
  CHECK(v.exposedSeconds.measured == Approx(0.003));
  CHECK(v.exposedSeconds.predicted == Approx(0.002));
  CHECK(v.hostBoundSeconds.measured == Approx(0.001));
  CHECK(v.hostBoundSeconds.predicted == 0);
  CHECK_FALSE(VerdictFigure{0, 1}.error());
  CHECK(v.waitSeconds.measured == Approx(0.001));
  CHECK(v.commSeconds.measured == Approx(0.004));
  REQUIRE(v.collectives.size() == 1);
  CHECK(v.collectives[0].name == "all_gather");
  CHECK(v.collectives[0].group == "dp_shard");
  CHECK(v.collectives[0].groupSize == 2);
  CHECK(v.collectives[0].count == 1);
  CHECK(v.collectives[0].seconds.measured == Approx(0.004));
  CHECK(v.collectives[0].seconds.predicted == Approx(0.002));
  REQUIRE(v.kernels.size() == 2);
  CHECK(v.kernels[0].name == "q_proj");
  REQUIRE(v.phases.size() == 3);
  CHECK(v.phases[0].seconds.measured == Approx(0.005));  // launch 0-1 is the next kernel's
  CHECK(v.phases[1].seconds.measured == Approx(0.003));
  CHECK(v.phases[2].seconds.measured == Approx(0.002));
  CHECK(part(v, PartKind::exposed).seconds.difference() == Approx(-0.001));
  CHECK(part(v, PartKind::launch).seconds.difference() == Approx(-0.001));
  CHECK(part(v, PartKind::wait).seconds.difference() == Approx(-0.001));
  CHECK(part(v, PartKind::kernel).seconds.difference() == Approx(0).margin(1e-12));
}

TEST_CASE("Verdict: idle time in front of work that was issued in the middle of it is split") {
  const auto p = program();
  const Step step{10, {{{0, 0, 2}, {0, 2, 4}, {7, 8, 10}}}};  // idle 4-8: launch until 7, then a wait
  const auto v = makeVerdict(logOf({rankLog({step})}, p, "host"), logOf({rankLog({kSeven})}, p, "s"), 0);
  REQUIRE(v);
  CHECK(v->hostBoundSeconds.measured == Approx(0.003));
  CHECK(v->waitSeconds.measured == Approx(0.001));
}

TEST_CASE(
    "Verdict: steps last from the end of all ranks to the end of all ranks; warm-up and outliers do not "
    "count") {
  const auto p = program();
  const auto stretched = [](double factor) {
    Step step = kTen;
    step.length *= factor;
    for (Times& t : step.slices) t = {t.issued * factor, t.begin * factor, t.end * factor};
    return step;
  };
  // Ends: a 40 (warm-up), 50, 60, 71, 83, 183; b 40, 60, 70, 80, 90, 100: now one is ahead, now the other.
  const RankLog a =
      rankLog({stretched(4), stretched(1), stretched(1), stretched(1.1), stretched(1.2), stretched(10)});
  const RankLog b =
      rankLog({stretched(4), stretched(2), stretched(1), stretched(1), stretched(1), stretched(1)}, 1);
  const auto v = makeVerdict(logOf({a, b}, p, "host"), logOf({rankLog({kTen, kSeven})}, p, "s"), 1);
  REQUIRE(v);
  CHECK(v->ranks == 2);
  REQUIRE(v->measuredSteps.size() == 5);
  CHECK(v->measuredSteps[0] == Approx(0.020));
  CHECK(v->measuredSteps[4] == Approx(0.093));
  double sum = 0;
  for (const double seconds : v->measuredSteps) sum += seconds;
  CHECK(sum == Approx(0.183 - 0.040));
  CHECK(v->stepSeconds.measured == Approx(0.010));
  CHECK(v->quartileLow == Approx(0.010));
  CHECK(v->quartileHigh == Approx(0.020));
  CHECK(v->computeSeconds.measured == Approx(0.005));  // half of each step
  CHECK(v->collectives[0].count == 1);
  CHECK(typicalStep(*v) == 2);
  const ExecutionLog cut = endedAfter(logOf({a, b}, p, "host"), 4);
  CHECK(cut.ranks[0].stepEnd.size() == 5);
  CHECK(cut.ranks[0].slices.size() == 15);
  // Step 4: all have begun it at 80; a ends it at 83, b at 90.
  CHECK(secondsFromPicoseconds(stepLength(cut.ranks[1], 4)) == Approx(0.010));
  const ExecutionLog second = endedAfter(logOf({a, b}, p, "host"), 2);  // ends: 60 and 70; begun at 60
  CHECK(secondsFromPicoseconds(stepLength(second.ranks[0], 2)) == 0);
  CHECK(secondsFromPicoseconds(stepLength(second.ranks[1], 2)) == Approx(v->measuredSteps[1]));
}

TEST_CASE("Verdict: an even number of steps has the mean of the middle two as its median") {
  const auto p = program();
  Step longer = kTen;
  longer.length = 14;
  const auto v =
      makeVerdict(logOf({rankLog({kTen, longer})}, p, "host"), logOf({rankLog({kSeven})}, p, "s"), 0);
  REQUIRE(v);
  CHECK(v->stepSeconds.measured == Approx(0.012));
}

TEST_CASE("Verdict: parts and phases sum to the step on both sides, for random logs") {
  const auto p = program();
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> gap(0, 3);
  for (int round = 0; round < 200; ++round) {
    const auto randomStep = [&] {
      Step step{};
      double stream[2] = {0, 0}, issued = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        double& now = stream[i == 1 ? 1 : 0];
        issued += gap(random);
        step.slices[i].issued = issued;
        step.slices[i].begin = std::max(now, issued) + gap(random);
        step.slices[i].end = now = step.slices[i].begin + gap(random);
      }
      step.length = std::max(stream[0], stream[1]) + gap(random);
      return step;
    };
    std::vector<RankLog> ranks;
    for (int rank = 0; rank < 3; ++rank)
      ranks.push_back(rankLog({randomStep(), randomStep(), randomStep(), randomStep(), randomStep()}, rank));
    const auto v = makeVerdict(logOf(ranks, p, "host"), logOf({rankLog({randomStep()})}, p, "s"), 1);
    REQUIRE(v);
    double difference = 0, measured = 0, phases = 0;
    for (const VerdictPart& each : v->contributors) {
      difference += each.seconds.difference();
      measured += each.seconds.measured;
    }
    for (const VerdictPhase& row : v->phases) phases += row.seconds.predicted;
    CHECK(difference == Approx(v->stepSeconds.difference()).margin(1e-9));
    CHECK(measured == Approx(v->stepSeconds.measured));
    CHECK(phases == Approx(v->stepSeconds.predicted));
    CHECK(v->quartileLow <= v->stepSeconds.measured);
    CHECK(v->stepSeconds.measured <= v->quartileHigh);
    for (std::size_t i = 1; i < v->contributors.size(); ++i)
      CHECK(std::abs(v->contributors[i - 1].seconds.difference()) >=
            std::abs(v->contributors[i].seconds.difference()));
  }
}

TEST_CASE("Verdict: what cannot be compared is refused") {
  const auto p = program();
  const ExecutionLog good = logOf({rankLog({kTen})}, p, "host");
  CHECK(makeVerdict(good, good, 1).error().message.find("none is left") != std::string::npos);
  CHECK_FALSE(makeVerdict(good, logOf({}, p, "s"), 0));
  CHECK_FALSE(makeVerdict(logOf({}, p, "host"), good, 0));
  CHECK_FALSE(makeVerdict(logOf({rankLog({kTen}), rankLog({kTen, kTen}, 1)}, p, "host"), good, 0));
  StepProgram other = *p;
  other.groups[0].size = 4;
  const auto mixed =
      makeVerdict(good, logOf({rankLog({kSeven})}, std::make_shared<const StepProgram>(other), "s"), 0);
  REQUIRE_FALSE(mixed);
  CHECK(mixed.error().message.find("different") != std::string::npos);
}

TEST_CASE("Verdict of a log against itself has no error") {
  const ExecutionLog log = vsim::test::sampleLog();
  const auto v = makeVerdict(log, log, 1);
  REQUIRE(v);
  CHECK(*v->stepSeconds.error() == Approx(0).margin(1e-12));
  for (const VerdictPart& each : v->contributors) CHECK(each.seconds.difference() == Approx(0).margin(1e-12));
  CHECK(v->copySeconds.measured == Approx(0.002));
  CHECK(v->peakAllocated.measured == 10'000'000);
  CHECK(v->peakReserved.predicted == 20'971'520);
}

TEST_CASE("Verdict as text names the step, its parts and what makes the error") {
  const auto p = program();
  auto v = makeVerdict(logOf({rankLog({kTen})}, p, "host"), logOf({rankLog({kSeven})}, p, "s"), 0);
  REQUIRE(v);
  v->scenario = "small";
  const std::string text = toText(*v);
  for (const char* words :
       {"small, vescale: 1 rank on host, median of 1 steps after 0 of warm-up", "step time", "-30.0 %",
        "all_gather dp_shard, exposed", "-10.0 %", "together: the step",
        "vescale: predicted 7.00 ms, measured 10.00 ms: -30.0 %."}) {
    INFO(text << "\nlacks: " << words);
    CHECK(text.find(words) != std::string::npos);
  }
}

TEST_CASE("Verdict as JSON: documented names, contributors with signs") {
  const auto p = program();
  auto v = makeVerdict(logOf({rankLog({kTen})}, p, "host"), logOf({rankLog({kSeven})}, p, "s"), 0);
  REQUIRE(v);
  v->scenario = "small";
  const auto json =
      nlohmann::json::parse(toJson({*v}, {.profile = "p.yaml", .notes = {"a note"}, .maxError = 0.1}));
  CHECK(json.at("scenario") == "small");
  CHECK(json.at("profile") == "p.yaml");
  CHECK(json.at("max_error") == 0.1);
  const auto& run = json.at("verdicts").at(0);
  for (const char* name :
       {"system", "executor", "ranks", "warmup", "steps_s", "quartiles_s", "step_time_s", "compute_s",
        "exposed_comm_s", "copies_s", "host_bound_s", "waits_s", "comm_s", "peak_allocated_bytes",
        "peak_reserved_bytes", "phases", "collectives", "kernels", "contributors"})
    CHECK(run.contains(name));
  CHECK(run.size() == 19);
  CHECK(run.at("step_time_s").at("error").get<double>() == Approx(-0.3));
  CHECK(run.at("peak_allocated_bytes").at("error").is_null());
  CHECK(run.at("collectives").at(0).at("kind") == "all_gather");
  double sum = 0;
  for (const auto& part : run.at("contributors")) sum += part.at("difference_s").get<double>();
  CHECK(sum == Approx(-0.003));
}
