#include "bench/gui/synthetic_lanes.h"

#include <algorithm>
#include <array>
#include <random>

namespace vsim::bench {

std::vector<gui::LaneColumns> syntheticLanes(std::size_t slices, std::size_t lanes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<gui::LaneColumns> result(lanes);
  constexpr core::Picoseconds kMicrosecond = 1'000'000;
  for (std::size_t l = 0; l < lanes; ++l) {
    gui::LaneColumns& lane = result[l];
    const std::size_t count = slices / lanes + (l < slices % lanes ? 1 : 0);
    lane.begin.reserve(count);
    lane.end.reserve(count);
    lane.kind.reserve(count);
    lane.source.reserve(count);
    core::Picoseconds time = 0;
    auto kind = gui::SliceClass::forward;
    for (std::size_t i = 0; i < count; ++i) {
      if (random() % 12 == 0) kind = static_cast<gui::SliceClass>(random() % gui::kSliceClasses);
      if (random() % 4 == 0) time += static_cast<core::Picoseconds>(random() % 100) * kMicrosecond;
      lane.begin.push_back(time);
      time += static_cast<core::Picoseconds>(1 + random() % 200) * kMicrosecond;
      lane.end.push_back(time);
      lane.kind.push_back(kind);
      lane.source.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return result;
}

namespace {

std::shared_ptr<const core::StepProgram> syntheticProgram(std::size_t instructions) {
  auto program = std::make_shared<core::StepProgram>();
  program->system = "synthetic";
  program->streams = {"default", "AG", "RS", "AR"};
  program->groups = {{"dp", 64, 1}};
  program->operations.push_back({.name = "matmul"});
  program->kernels.push_back({.operation = 0});
  for (const auto kind : {core::CollectiveKind::allGather, core::CollectiveKind::reduceScatter,
                          core::CollectiveKind::allReduce})
    program->collectives.push_back({.kind = kind, .sendElements = 1 << 20, .receiveElements = 1 << 26});
  for (std::size_t i = 0; i < instructions; ++i) {
    const auto stream = static_cast<core::StreamId>(i % 4);
    const bool kernel = stream == 0;
    program->step.push_back(
        {.kind = kernel ? core::InstructionKind::kernel : core::InstructionKind::collective,
         .stream = stream,
         .phase = i < instructions / 3 ? core::Phase::forward : core::Phase::backward,
         .operand = kernel ? 0U : static_cast<core::Index>(stream) - 1U});
  }
  return program;
}

}  // namespace

std::shared_ptr<const core::ExecutionLog> syntheticLog(std::size_t slices, std::size_t classes,
                                                       std::uint64_t seed) {
  constexpr std::size_t kSteps = 2;
  const std::size_t each = slices / classes / kSteps;
  auto log = std::make_shared<core::ExecutionLog>();
  log->executor = "synthetic";
  log->program = syntheticProgram(each);
  std::mt19937_64 random(seed);
  for (std::size_t c = 0; c < classes; ++c) {
    core::RankLog ranks;
    ranks.firstRank = static_cast<std::int64_t>(c);
    std::array<core::Picoseconds, 4> free{};
    for (std::size_t step = 0; step < kSteps; ++step) {
      ranks.stepBegin.push_back(*std::max_element(free.begin(), free.end()));
      for (std::size_t i = 0; i < each; ++i) {
        const std::size_t stream = i % 4;
        const core::Picoseconds begin =
            free[stream] + static_cast<core::Picoseconds>(random() % 50) * 1'000'000;
        free[stream] = begin + static_cast<core::Picoseconds>(1 + random() % 200) * 1'000'000;
        ranks.slices.push_back({.instruction = static_cast<core::Index>(i),
                                .stream = static_cast<core::StreamId>(stream),
                                .step = static_cast<std::uint8_t>(step),
                                .issued = begin,
                                .begin = begin,
                                .end = free[stream]});
      }
      ranks.stepEnd.push_back(*std::max_element(free.begin(), free.end()));
    }
    log->ranks.push_back(std::move(ranks));
  }
  return log;
}

}  // namespace vsim::bench
