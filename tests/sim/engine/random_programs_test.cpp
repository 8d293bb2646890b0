// Properties of random programs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "sim/memory/caching_allocator.h"
#include "tests/sim/engine/program_sketch.h"

using namespace vsim;
using core::InstructionKind;
using core::Picoseconds;
using test::ProgramSketch;

namespace {

constexpr int kStreams = 5, kGroups = 2;

struct RandomProgram {
  ProgramSketch sketch{kStreams, kGroups};
  std::vector<core::Index> buffers;
};

RandomProgram randomProgram(unsigned seed, double slowdown) {
  RandomProgram result;
  ProgramSketch& sketch = result.sketch;
  std::mt19937 random(seed);
  sketch.costs.launch = static_cast<Picoseconds>(random() % 20);
  sketch.costs.hostCall = static_cast<Picoseconds>(random() % 5);
  sketch.costs.driverAllocate = 100;
  auto& builder = sketch.builder();
  const auto pick = [&](core::Index count) { return static_cast<core::Index>(random() % count); };
  std::vector<core::Index> live;
  const core::Index events = 6;
  builder.program().events = events;
  for (int i = 0; i < 400; ++i) {
    const auto stream = static_cast<core::StreamId>(random() % kStreams);
    const auto time = static_cast<Picoseconds>(random() % 100);
    switch (random() % 10) {
      case 0:
      case 1:
      case 2:
        sketch.kernel(stream, time, stream == 3 ? slowdown : 0);
        break;
      case 3:
        sketch.collective(stream, 3 * time, pick(kGroups), slowdown);
        break;
      case 4:
        sketch.add(InstructionKind::recordEvent, stream, pick(events));
        break;
      case 5:
        sketch.add(InstructionKind::waitEvent, stream, pick(events));
        break;
      case 6:
        if (random() % 4 == 0)
          sketch.add(InstructionKind::hostWait, 0, pick(events));
        else
          sketch.add(InstructionKind::waitStream, stream, pick(kStreams));
        break;
      case 7:
      case 8:
        live.push_back(sketch.buffer("b", static_cast<core::Bytes>(random() % (64 << 20)), stream));
        builder.allocate(live.back());
        break;
      default:
        if (live.empty()) break;
        if (random() % 2 == 0) sketch.recordStream(live.back(), stream);
        builder.release(live.back());
        live.pop_back();
    }
  }
  for (const auto buffer : live) builder.release(buffer);
  return result;
}

sim::SimulatorOptions options() {
  auto options = ProgramSketch::everything();
  options.makeMemory = [] { return std::make_unique<sim::CachingAllocator>(); };
  return options;
}

bool disjoint(std::vector<std::pair<Picoseconds, Picoseconds>> intervals) {
  // Given in issue order, which is also the order of execution.
  for (std::size_t i = 1; i < intervals.size(); ++i)
    if (intervals[i].first < intervals[i - 1].second) return false;
  return true;
}

// Replays the instructions and checks each slice against everything issued before it.
void checkOrder(const core::StepProgram& program, const core::CostTable& costs, const core::RankLog& log,
                int steps) {
  std::map<int, std::vector<std::pair<Picoseconds, Picoseconds>>> perStream, perGroup;
  std::vector<Picoseconds> reached(kStreams), eventTime(program.events);  // lower bounds: end of work so far
  std::size_t at = 0;
  Picoseconds issued = 0;
  for (int step = 0; step < steps; ++step) {
    for (const auto& instruction : program.step) {
      const std::size_t s = instruction.stream;
      switch (instruction.kind) {
        case InstructionKind::kernel:
        case InstructionKind::collective: {
          const core::Slice& slice = log.slices.at(at++);
          const bool kernel = instruction.kind == InstructionKind::kernel;
          const Picoseconds time = kernel
                                       ? costs.operations[program.kernels[instruction.operand].operation].time
                                       : costs.collectives[instruction.operand].time;
          REQUIRE(slice.issued >= issued);
          issued = slice.issued;
          REQUIRE(slice.begin >= slice.issued);
          REQUIRE(slice.begin >= reached[s]);
          if (kernel)
            REQUIRE(slice.end - slice.begin >= time);
          else
            REQUIRE(slice.end - slice.begin == time);
          REQUIRE(slice.end <= log.stepEnd[static_cast<std::size_t>(step)]);
          reached[s] = slice.end;
          perStream[static_cast<int>(s)].emplace_back(slice.begin, slice.end);
          if (!kernel)
            perGroup[static_cast<int>(program.collectives[instruction.operand].group)].emplace_back(
                slice.begin, slice.end);
          break;
        }
        case InstructionKind::recordEvent:
          eventTime[instruction.operand] = reached[s];
          break;
        case InstructionKind::waitEvent:
          reached[s] = std::max(reached[s], eventTime[instruction.operand]);
          break;
        case InstructionKind::waitStream:
          reached[s] = std::max(reached[s], reached[instruction.operand]);
          break;
        case InstructionKind::hostWait:
          issued = std::max(issued, eventTime[instruction.operand]);
          break;
        default:
          break;
      }
    }
  }
  REQUIRE(at == log.slices.size());
  for (const auto& [stream, intervals] : perStream) CHECK(disjoint(intervals));
  for (const auto& [group, intervals] : perGroup) CHECK(disjoint(intervals));
}

// Without interference the times follow from the order alone: an independent calculation.
Picoseconds criticalPath(const core::StepProgram& program, const core::CostTable& costs, int steps) {
  std::vector<Picoseconds> stream(kStreams), event(program.events), group(program.groups.size());
  Picoseconds host = 0, last = 0;
  for (int step = 0; step < steps; ++step) {
    for (const auto& i : program.step) {
      Picoseconds& mine = stream[i.stream];
      switch (i.kind) {
        case InstructionKind::kernel:
          host += costs.launch;
          mine = std::max(mine, host) + costs.operations[program.kernels[i.operand].operation].time;
          last = std::max(last, mine);
          break;
        case InstructionKind::collective: {
          Picoseconds& turn = group[program.collectives[i.operand].group];
          host += costs.launch;
          mine = turn = std::max({mine, host, turn}) + costs.collectives[i.operand].time;
          last = std::max(last, mine);
          break;
        }
        case InstructionKind::recordEvent:
          host += costs.hostCall;
          event[i.operand] = mine;
          break;
        case InstructionKind::waitEvent:
          host += costs.hostCall;
          mine = std::max(mine, event[i.operand]);
          break;
        case InstructionKind::waitStream:
          host += 2 * costs.hostCall;
          mine = std::max(mine, stream[i.operand]);
          break;
        case InstructionKind::hostWait:
          host = std::max(host + costs.hostCall, event[i.operand]);
          break;
        case InstructionKind::allocate:
          host += costs.hostCall;
          break;
        default:
          break;
      }
    }
  }
  return last;
}

bool sameSlices(const core::RankLog& a, const core::RankLog& b) {
  return std::equal(a.slices.begin(), a.slices.end(), b.slices.begin(), b.slices.end(),
                    [](const core::Slice& x, const core::Slice& y) {
                      return x.instruction == y.instruction && x.begin == y.begin && x.end == y.end &&
                             x.issued == y.issued && x.stream == y.stream && x.step == y.step;
                    });
}

}  // namespace

TEST_CASE("random programs: order is kept, bytes are balanced, same output twice") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    const RandomProgram random = randomProgram(seed, seed % 2 ? 0.3 : 0.0);
    const core::RankLog log = random.sketch.run(3, options());
    checkOrder(*random.sketch.program(), random.sketch.costs, log, 3);
    CHECK(sameSlices(log, random.sketch.run(3, options())));
    if (!log.memory.empty()) {
      CHECK(log.memory.back().allocated == 0);
      core::Bytes peak = 0;
      for (const auto& event : log.memory) {
        CHECK(event.allocated <= event.active);
        CHECK(event.active <= event.reserved);
        peak = std::max(peak, event.allocated);
      }
      CHECK(log.peak.allocated == peak);
      core::Bytes sum = 0;
      for (const auto bytes : log.peak.byCategory) sum += bytes;
      CHECK(sum == peak);
    }
  }
}

TEST_CASE("random programs without interference take exactly the critical path") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    const RandomProgram random = randomProgram(seed, 0);
    const core::RankLog log = random.sketch.run(3, ProgramSketch::everything());
    CHECK(log.stepEnd.back() <= criticalPath(*random.sketch.program(), random.sketch.costs, 3));
    CHECK(*std::max_element(log.stepEnd.begin(), log.stepEnd.end()) ==
          criticalPath(*random.sketch.program(), random.sketch.costs, 3));
  }
}

TEST_CASE("interference only lengthens, and a slower part never shortens the whole") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    const RandomProgram random = randomProgram(seed, 0);
    const auto length = [](const ProgramSketch& sketch) {
      const auto log = sketch.run(2, ProgramSketch::everything());
      return *std::max_element(log.stepEnd.begin(), log.stepEnd.end());
    };
    const Picoseconds base = length(random.sketch);
    CHECK(length(randomProgram(seed, 0.4).sketch) >= base);
    std::mt19937 choice(seed);
    for (int i = 0; i < 10; ++i) {
      ProgramSketch slower = random.sketch;
      auto& costs = choice() % 2 ? slower.costs.operations : slower.costs.collectives;
      costs[choice() % costs.size()].time += 50;
      CHECK(length(slower) >= base);
    }
  }
}

namespace {

/// What a collective of the log got done by its end, from the kernels that ran on other streams meanwhile.
double workDone(const core::StepProgram& program, const core::RankLog& log, const core::Slice& collective,
                double stretch) {
  std::vector<Picoseconds> cuts{collective.begin, collective.end};
  std::vector<std::pair<Picoseconds, Picoseconds>> kernels;
  for (const core::Slice& slice : log.slices) {
    if (program.step[slice.instruction].kind != InstructionKind::kernel || slice.stream == collective.stream)
      continue;
    kernels.emplace_back(slice.begin, slice.end);
    for (const Picoseconds cut : {slice.begin, slice.end})
      if (cut > collective.begin && cut < collective.end) cuts.push_back(cut);
  }
  std::sort(cuts.begin(), cuts.end());
  double done = 0;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    const bool beside = std::any_of(kernels.begin(), kernels.end(), [&](const auto& k) {
      return k.first < cuts[i] && k.second > cuts[i - 1];
    });
    done += static_cast<double>(cuts[i] - cuts[i - 1]) / (beside ? 1 + stretch : 1);
  }
  return done;
}

}  // namespace

TEST_CASE("stretched collectives do their work at the rates that the kernels beside them leave") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    auto made = randomProgram(seed, seed % 2 ? 0.4 : 0);
    const double stretch = 0.25 * static_cast<double>(1 + seed % 6);
    for (core::Cost& cost : made.sketch.costs.collectives) cost.stretch = stretch;
    const core::RankLog log = made.sketch.run(2, options());
    const auto program = made.sketch.program();
    for (const core::Slice& slice : log.slices) {
      const auto& instruction = program->step[slice.instruction];
      if (instruction.kind != InstructionKind::collective) continue;
      const auto time = static_cast<double>(made.sketch.costs.collectives[instruction.operand].time);
      CHECK(workDone(*program, log, slice, stretch) == Approx(time).margin(1));
    }
    CHECK(sameSlices(log, made.sketch.run(2, options())));
  }
}
