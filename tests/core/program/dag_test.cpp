#include "core/program/dag.h"

#include <catch2/catch.hpp>

#include <algorithm>

#include "core/program/builder.h"
#include "core/program/data_moves.h"
#include "core/program/hazards.h"

using namespace vsim::core;

namespace {

/// Two streams, one buffer of each, kernels of 10, 20, 30 ... time units.
struct Sketch {
  ProgramBuilder b{"sketch"};
  StreamId main = b.stream("default"), side = b.stream("side");
  Index group = b.group({"dp_shard", 2, 1});
  Index buffer = b.buffer({.name = "x", .stream = main, .elements = 4});
  std::vector<Picoseconds> times;

  Index kernel(std::vector<Index> reads, std::vector<Index> writes) {
    const Index operation = b.operation(Operation{.name = "k"});
    times.push_back(10 * static_cast<Picoseconds>(times.size() + 1));
    return b.kernel({.operation = operation, .reads = std::move(reads), .writes = std::move(writes)});
  }
  [[nodiscard]] CriticalPath path(Picoseconds launch = 0, Picoseconds hostCall = 0) {
    const auto found = criticalPath(
        b.program(), {.operations = times,
                      .collectives = std::vector<Picoseconds>(b.program().collectives.size(), 100),
                      .launch = launch,
                      .hostCall = hostCall});
    REQUIRE(found);
    return *found;
  }
};

}  // namespace

TEST_CASE("streams run side by side until an event joins them") {
  Sketch s;
  s.b.launch(s.kernel({}, {}), s.main);  // 0-10
  s.b.launch(s.kernel({}, {}), s.side);  // 0-20
  CHECK(s.path().length == 20);
  const Index event = s.b.record(s.side);
  s.b.wait(s.main, event);
  s.b.launch(s.kernel({}, {}), s.main);  // 20-50
  CHECK(s.path().length == 50);
  CHECK(s.path(7).length == 7 + 7 + 20 + 30);
}

TEST_CASE("a wait looks at the latest record, and at none where there is none") {
  ProgramBuilder b("sketch");
  const StreamId main = b.stream("default"), side = b.stream("side");
  const Index event = b.record(side);
  b.program().step.clear();
  b.wait(main, event);  // of the step before
  b.program().step.push_back({.kind = InstructionKind::recordEvent, .stream = side, .operand = event});
  const auto dag = ProgramDag::build(b.program(), 2);
  REQUIRE(dag);
  const auto has = [&](Index from, Index to) {
    return std::ranges::find(dag->edges(), std::pair{from, to}) != dag->edges().end();
  };
  CHECK(has(dag->deviceNode(0, 1), dag->deviceNode(1, 0)));
  CHECK(!has(dag->deviceNode(1, 1), dag->deviceNode(1, 0)));
  CHECK(dag->topologicalOrder().size() == dag->nodes().size());
}

TEST_CASE("a communicator runs one collective at a time, in issue order") {
  Sketch s;
  const Index gather = s.b.collective({.group = s.group});
  s.b.communicate(gather, s.main);
  s.b.communicate(gather, s.side);
  CHECK(s.path().length == 200);
}

TEST_CASE("a host that waits issues later") {
  Sketch s;
  s.b.launch(s.kernel({}, {}), s.main);  // 0-10
  s.b.hostWait(s.b.record(s.main));
  s.b.launch(s.kernel({}, {}), s.side);  // 10-30
  const CriticalPath path = s.path();
  CHECK(path.length == 30);
  CHECK(path.nodes.size() >= 3);
}

TEST_CASE("what only the first step does has no nodes later") {
  Sketch s;
  s.b.setFirstStepOnly(true);
  s.b.launch(s.kernel({}, {}), s.main);
  s.b.setFirstStepOnly(false);
  s.b.launch(s.kernel({}, {}), s.main);
  const auto dag = ProgramDag::build(s.b.program(), 2);
  REQUIRE(dag);
  CHECK(dag->deviceNode(0, 0) != kNone);
  CHECK(dag->deviceNode(1, 0) == kNone);
  CHECK(dag->hostNode(1, 0) == kNone);
  CHECK(dag->deviceNode(1, 1) != kNone);
}

TEST_CASE("begins follow from the ends that are known") {
  Sketch s;
  s.b.launch(s.kernel({}, {}), s.main);
  s.b.launch(s.kernel({}, {}), s.main);
  s.b.launch(s.kernel({}, {}), s.main);
  const auto dag = ProgramDag::build(s.b.program());
  REQUIRE(dag);
  std::vector<Picoseconds> ends(dag->nodes().size(), -1);
  ends[dag->deviceNode(0, 0)] = 40;  // nothing is known of the second kernel
  CHECK(earliestBegins(*dag, ends)[dag->deviceNode(0, 2)] == 40);
}

TEST_CASE("programs and durations that do not fit are refused") {
  Sketch s;
  s.b.launch(s.kernel({}, {}), s.main);
  CHECK(!criticalPath(s.b.program(), {}));
  CHECK(!criticalPath(s.b.program(), {.operations = {-1}}));
  CHECK(!ProgramDag::build(s.b.program(), 0));
  StepProgram bad = s.b.program();
  bad.step.front().operand = 7;
  CHECK(!ProgramDag::build(bad));
  bad = s.b.program();
  bad.events = 1;
  bad.step.push_back({.kind = InstructionKind::hostWait, .operand = 0});
  CHECK(!ProgramDag::build(bad));
}

TEST_CASE("unordered accesses are found") {
  Sketch s;
  s.b.allocate(s.buffer);
  s.b.launch(s.kernel({}, {s.buffer}), s.main);
  SECTION("a reader that does not wait for the writer") {
    s.b.launch(s.kernel({s.buffer}, {}), s.side);
    const auto found = findHazards(s.b.program(), 1);
    REQUIRE(found);
    REQUIRE(found->size() == 1);
    CHECK(found->front().text == "x is not kept in order: instruction 1 of step 0 and 2 of step 0");
  }
  SECTION("one that waits") {
    s.b.waitStream(s.side, s.main);
    s.b.launch(s.kernel({s.buffer}, {}), s.side);
    CHECK(findHazards(s.b.program(), 1)->empty());
    SECTION("but the next owner of the memory does not") {
      s.b.release(s.buffer);
      const Index next = s.b.buffer({.name = "y", .stream = s.main, .elements = 4});
      s.b.allocate(next);
      s.b.launch(s.kernel({}, {next}), s.main);
      CHECK(findHazards(s.b.program(), 1)->size() == 1);
    }
    SECTION("the next owner comes after the recorded stream") {
      s.b.program().step.push_back(
          {.kind = InstructionKind::recordStream, .stream = s.side, .operand = s.buffer});
      s.b.release(s.buffer);
      const Index next = s.b.buffer({.name = "y", .stream = s.main, .elements = 4});
      s.b.allocate(next);
      s.b.launch(s.kernel({}, {next}), s.main);
      CHECK(findHazards(s.b.program(), 1)->empty());
    }
  }
  SECTION("a use after the release") {
    s.b.release(s.buffer);
    s.b.launch(s.kernel({s.buffer}, {}), s.main);
    const auto found = findHazards(s.b.program(), 1);
    REQUIRE(found->size() == 1);
    CHECK(found->front().text.find("is used while it is not live") != std::string::npos);
  }
}

TEST_CASE("segments cover every element once") {
  const Unit rows{.name = "L1", .contiguous = false, .devices = 4, .shardElements = 9};
  const UnitTensor tensor{.name = "w", .elements = 15, .rowElements = 3, .shardRows = 2, .shardOffset = 3};
  const auto gathered = gatheredSegments(rows, tensor);
  REQUIRE(gathered.size() == 3);  // rows 0-1, 2-3, 4; the last rank has none
  CHECK(gathered[2].from == 12);
  CHECK(gathered[2].to == 2 * 9 + 3);
  CHECK(gathered[2].count == 3);
  CHECK(shardSegments(rows, tensor, 2).size() == 1);
  CHECK(shardSegments(rows, tensor, 2).front().to == 3);
  CHECK(shardSegments(rows, tensor, 3).empty());
  CHECK(copyOutSegments(rows, tensor).size() == 4);

  const Unit run{.name = "L1", .contiguous = true, .devices = 2, .shardElements = 8};
  const UnitTensor across{.name = "w", .elements = 10, .offset = 4};
  const auto first = shardSegments(run, across, 0), second = shardSegments(run, across, 1);
  REQUIRE(first.size() == 1);
  REQUIRE(second.size() == 1);
  CHECK(first.front().count == 4);
  CHECK(second.front().from == 4);
  CHECK(second.front().to == 0);
  CHECK(second.front().count == 6);
}
