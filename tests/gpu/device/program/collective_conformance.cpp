#include "tests/gpu/device/program/collective_conformance.h"

#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>

#include "core/program/builder.h"
#include "gpu/device/device_machine.h"
#include "tests/gpu/device/checked_run.h"

namespace vsim::test {

using namespace vsim::core;

namespace {

constexpr std::int64_t kShard = 1003;  // elements: ranks' slices are not aligned

/// One collective of the program: the instruction that fills its input, and its own.
struct Placed {
  Index fill = kNone, collective = kNone;  // into StepProgram::step
  Index input = kNone, output = kNone;     // buffers
};

struct CollectiveProgram {
  std::shared_ptr<const StepProgram> program;
  std::vector<Placed> placed;
};

Collective collectiveOf(CollectiveKind kind, DType type, std::int64_t ranks) {
  const bool reduces = kind == CollectiveKind::reduceScatter || kind == CollectiveKind::allReduce;
  Collective c{.kind = kind, .unit = 0, .dtype = type, .aligned16 = false};
  c.reduce = !reduces ? ReduceOp::none : type == DType::fp32 ? ReduceOp::average : ReduceOp::sum;
  c.sendElements = c.receiveElements = kShard * ranks;
  if (kind == CollectiveKind::allGather || kind == CollectiveKind::allReduce) c.sendElements = kShard;
  if (kind == CollectiveKind::reduceScatter || kind == CollectiveKind::allReduce) c.receiveElements = kShard;
  return c;
}

/// Each collective's input is filled with the rank's own synthetic numbers.
CollectiveProgram programFor(std::int64_t ranks) {
  ProgramBuilder builder("collectives");
  StepProgram& program = builder.program();
  const StreamId compute = builder.stream("default");
  const StreamId sides[] = {builder.stream("one"), builder.stream("other")};
  const Index group = builder.group({"collectives", ranks, 1});
  program.tensorTables.push_back({{.name = "tensor", .elements = kShard * ranks}});
  program.units.push_back(
      {.name = "U", .devices = ranks, .shardElements = kShard, .group = group, .tensorTable = 0});
  builder.beginStep();
  builder.setPhase(Phase::forward);
  CollectiveProgram result;
  std::size_t number = 0;
  for (const CollectiveKind kind :
       {CollectiveKind::allGather, CollectiveKind::reduceScatter, CollectiveKind::allReduce,
        CollectiveKind::allToAll, CollectiveKind::broadcast})
    for (const DType type : {DType::bf16, DType::fp32})
      for (const bool inPlace : {true, false}) {
        const StreamId side = sides[number++ % 2];
        const auto make = [&](const char* name) {
          return builder.buffer(
              {.name = name, .unit = 0, .stream = side, .dtype = type, .elements = kShard * ranks});
        };
        Placed placed;
        placed.input = make("input");
        placed.output = inPlace ? placed.input : make("output");
        Collective collective = collectiveOf(kind, type, ranks);
        collective.group = group;
        collective.input = placed.input;
        collective.output = placed.output;
        collective.inPlace = inPlace;
        builder.allocate(placed.input);
        if (!inPlace) builder.allocate(placed.output);
        builder.waitStream(compute, side);  // the pool's stream has passed the blocks' last users
        placed.fill = static_cast<Index>(program.step.size());
        builder.launch(builder.kernel({.role = KernelRole::gradient,
                                       .unit = 0,
                                       .writes = {placed.input},
                                       .firstTensor = 0,
                                       .tensorCount = 1}),
                       compute);
        builder.waitStream(side, compute);
        placed.collective = static_cast<Index>(program.step.size());
        builder.communicate(builder.collective(collective), side);
        builder.release(placed.input);
        if (!inPlace) builder.release(placed.output);
        result.placed.push_back(placed);
      }
  result.program = std::make_shared<const StepProgram>(std::move(builder).take());
  return result;
}

/// What all ranks saw. Thread-safe.
class Seen {
 public:
  void add(const gpu::Observation& observation, Index buffer) {
    const std::span<const float> data = observation.data[buffer];
    const std::lock_guard lock(mutex_);
    seen_[{observation.step, observation.instruction, observation.rank}].assign(data.begin(), data.end());
  }
  /// Empty: the rank did not come there.
  [[nodiscard]] const std::vector<float>& at(int step, Index instruction, int rank) {
    return seen_[{step, instruction, rank}];
  }

 private:
  std::mutex mutex_;
  std::map<std::tuple<int, Index, int>, std::vector<float>> seen_;
};

/// Where a rank's output begins in its buffer, and what is there, from the inputs of its group.
struct Expected {
  std::size_t begin = 0;
  std::vector<float> values{};
};

Expected expectedOf(const Collective& c, bool inPlace, const std::vector<std::vector<float>>& inputs,
                    std::size_t index) {
  const std::size_t shard = kShard, ranks = inputs.size();
  Expected expected;
  const auto add = [&](const std::vector<float>& from, std::size_t begin, std::size_t count) {
    const auto at = from.begin() + static_cast<std::ptrdiff_t>(begin);
    expected.values.insert(expected.values.end(), at, at + static_cast<std::ptrdiff_t>(count));
  };
  const auto reduce = [&](const auto& beginOf) {
    for (std::size_t i = 0; i < shard; ++i) {
      double sum = 0;
      for (std::size_t r = 0; r < ranks; ++r) sum += inputs[r][beginOf(r) + i];
      expected.values.push_back(
          static_cast<float>(c.reduce == ReduceOp::average ? sum / static_cast<double>(ranks) : sum));
    }
  };
  switch (c.kind) {
    case CollectiveKind::allGather:
      for (std::size_t r = 0; r < ranks; ++r) add(inputs[r], inPlace ? r * shard : 0, shard);
      break;
    case CollectiveKind::reduceScatter:
      reduce([&](std::size_t) { return index * shard; });
      if (inPlace) expected.begin = index * shard;
      break;
    case CollectiveKind::allReduce:  // of each rank's own slice
      reduce([&](std::size_t r) { return r * shard; });
      expected.begin = index * shard;
      break;
    case CollectiveKind::allToAll:
      for (std::size_t r = 0; r < ranks; ++r) add(inputs[r], index * shard, shard);
      break;
    case CollectiveKind::broadcast:
      expected.values = inputs.front();
  }
  return expected;
}

std::string dataProblem(const Collective& c, bool inPlace, const std::vector<std::vector<float>>& inputs,
                        std::size_t index, const std::vector<float>& output) {
  const std::string name = fmt::format("{} of {}, {}", kCollectiveNames[static_cast<std::size_t>(c.kind)],
                                       core::name(c.dtype), inPlace ? "in place" : "two buffers");
  for (const std::vector<float>& input : inputs)
    if (input.size() != inputs.size() * kShard) return name + ": an input was not seen";
  const Expected expected = expectedOf(c, inPlace, inputs, index);
  if (output.size() < expected.begin + expected.values.size()) return name + ": the output was not seen";
  const bool exact = c.reduce == ReduceOp::none || inputs.size() == 1;
  const double tolerance =
      exact ? 0 : static_cast<double>(inputs.size()) * (c.dtype == DType::bf16 ? 0x1p-7 : 0x1p-22);
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    const double found = output[expected.begin + i], wanted = expected.values[i];
    if (!(std::abs(found - wanted) <= tolerance))
      return fmt::format("{}: element {} is {}, not {}", name, i, found, wanted);
  }
  return {};
}

void checkData(const CollectiveProgram& collectives, std::int64_t ranks, int steps, Seen& seen,
               ConformanceRow& row) {
  for (const Placed& placed : collectives.placed) {
    const Collective& c =
        collectives.program->collectives[collectives.program->step[placed.collective].operand];
    for (int step = 0; step < steps; ++step)
      for (int rank = 0; rank < row.ranks; ++rank) {
        const int first = rank / static_cast<int>(ranks) * static_cast<int>(ranks);
        std::vector<std::vector<float>> inputs;
        for (int r = first; r < first + ranks; ++r) inputs.push_back(seen.at(step, placed.fill, r));
        const std::vector<float>& output = seen.at(step, placed.collective, rank);
        const std::string problem = dataProblem(c, placed.input == placed.output, inputs,
                                                static_cast<std::size_t>(rank - first), output);
        row.checked += output.size();
        if (problem.empty()) continue;
        row.problems.push_back(fmt::format("rank {}, step {}: {}", rank, step, problem));
        return;
      }
  }
}

void checkGroup(std::int64_t ranks, const std::shared_ptr<gpu::device::Api>& api,
                const ConformanceOptions& options, ConformanceRow& row) {
  constexpr int kSteps = 3;
  const CollectiveProgram collectives = programFor(ranks);
  std::map<Index, Index> watched;  // instruction -> buffer
  for (const Placed& placed : collectives.placed) {
    watched[placed.fill] = placed.input;
    watched[placed.collective] = placed.output;
  }
  Seen seen;
  gpu::device::DeviceOptions devices = plainOptions(options.timeout);
  devices.devices.resize(static_cast<std::size_t>(options.devices));
  std::iota(devices.devices.begin(), devices.devices.end(), 0);
  devices.observed = [&](Index instruction) {
    const auto found = watched.find(instruction);
    return found == watched.end() ? std::vector<Index>() : std::vector<Index>{found->second};
  };
  devices.observer = [&](const gpu::Observation& observation) {
    seen.add(observation, watched.at(observation.instruction));
  };
  const auto job = gpu::singleProcessJob();
  auto machine = gpu::device::DeviceMachine::open(api, *job, std::move(devices));
  if (!machine) return row.problems.push_back(machine.error().text());
  const auto log = (*machine)->execute(collectives.program, kSteps);
  if (!log) return row.problems.push_back(log.error().text());
  checkData(collectives, ranks, kSteps, seen, row);
  for (std::string& problem : logProblems(collectives.program, *log, row.ranks, kSteps, options))
    row.problems.push_back(std::move(problem));
}

}  // namespace

std::vector<ConformanceRow> checkCollectives(const std::shared_ptr<gpu::device::Api>& api,
                                             const ConformanceOptions& options) {
  std::vector<ConformanceRow> rows;
  for (const int ranks : {1, options.devices}) {
    if (!rows.empty() && ranks == 1) break;
    ConformanceRow& row = rows.emplace_back();
    row.system = "none";
    row.name = ranks == 1 ? "collectives of groups of one rank"
                          : fmt::format("collectives of a group of {} ranks", ranks);
    row.ranks = options.devices;
    row.exact = ranks == 1;
    const auto began = std::chrono::steady_clock::now();
    try {
      checkGroup(ranks, api, options, row);
    } catch (const std::exception& error) {
      row.problems.emplace_back(error.what());
    }
    row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (options.progress) options.progress(row);
  }
  return rows;
}

}  // namespace vsim::test
