#include "gpu/calibrate/measurement.h"

#include <algorithm>
#include <cmath>

namespace vsim::gpu {
namespace {

/// Repetitions that find caches, clocks and connections cold.
constexpr int kWarmUp = 2, kWarmUpShared = 1;
constexpr int kMostRepetitions = 500, kMostShared = 4000;
/// A stretch of time that says something where ranks share processors.
constexpr double kShortestWindow = 0.05;
constexpr std::size_t kManyRepetitions = 1000;

std::string titleOf(const CollectiveSpec& spec) {
  return fmt::format("{} {}, {} ranks {} apart{}",
                     core::kCollectiveNames[static_cast<std::size_t>(spec.kind)],
                     core::formatBytes(spec.bytes()), spec.group.size, spec.group.stride,
                     spec.aligned16 ? "" : ", misaligned");
}

std::string titleOf(const core::Operation& op) {
  switch (op.kind) {
    case core::OpKind::gemm:
    case core::OpKind::groupedGemm:
      return fmt::format("{} {} x {} x {}{}", op.name, op.m, op.n, op.k,
                         op.groups > 1 ? fmt::format(", {} groups", op.groups) : "");
    case core::OpKind::attentionForward:
    case core::OpKind::attentionBackward:
      return fmt::format("{} {} x {}, {} heads of {}", op.name, op.batch, op.sequence, op.heads, op.headDim);
    case core::OpKind::memory:
      break;
  }
  return fmt::format("{} {}", op.name, core::formatBytes(op.bytesRead + op.bytesWritten));
}

core::Origin withError(core::Origin origin, const Estimate& found) {
  origin.relativeError = found.relativeError();
  return origin;
}

}  // namespace

int RepeatedMeasurement::warmUp() const { return reading_ == Reading::own ? kWarmUp : kWarmUpShared; }

Counts RepeatedMeasurement::first() const { return {warmUp() + (reading_ == Reading::own ? 3 : 2)}; }

Counts RepeatedMeasurement::next(double seconds) const {
  if (secondsEach_ <= 0) return {20};
  const bool shared = reading_ == Reading::shared;
  const double length = shared ? std::max(seconds, 1.5 * kShortestWindow) : seconds;
  const double most = shared ? kMostShared : kMostRepetitions;
  const double wanted = std::clamp(length / secondsEach_, 1.0, most);
  return {warmUp() + static_cast<int>(wanted)};
}

void RepeatedMeasurement::take(const core::ExecutionLog& log) {
  std::vector<Repetitions> ranks;
  std::vector<double> all;
  for (const core::RankLog& rank : log.ranks) {
    ranks.push_back(repetitionsOf(rank, 0, steps() - 1));
    for (const core::Slice& slice : ranks.back())
      all.push_back(core::secondsFromPicoseconds(slice.end - slice.begin));
  }
  std::vector<double> samples = samplesOf(ranks, warmUp());
  secondsEach_ = samples.empty() ? median(std::move(all)) : median(samples);
  if (reading_ == Reading::shared && commonWindow(ranks, warmUp()).seconds() < kShortestWindow) {
    // A short execution says how many repetitions there should be, and no more. Where even very many are
    // short, ranks hardly meet, and how they share processors does not matter.
    if (ranks.empty() || ranks.front().size() < kManyRepetitions) return;
    samples.assign(1, secondsEach_);
  }
  samples_.insert(samples_.end(), samples.begin(), samples.end());
}

bool RepeatedMeasurement::settled(double targetError) const {
  return result().relativeHalfWidth() <= targetError;
}

CollectiveMeasurement::CollectiveMeasurement(const CollectiveSpec& spec, int ranksPerNode, Reading reading,
                                             bool anyType)
    : RepeatedMeasurement(titleOf(spec), reading),
      spec_(spec),
      ranksPerNode_(ranksPerNode),
      anyType_(anyType) {
  setFamily(fmt::format("{} {} {}", static_cast<int>(spec.kind), spec.group.size, spec.group.stride),
            static_cast<double>(spec.bytes()));
}

ProgramPointer CollectiveMeasurement::program(const Counts& counts) const {
  return collectiveProgram(spec_, counts.front());
}

std::vector<double> CollectiveMeasurement::samplesOf(const std::vector<Repetitions>& ranks,
                                                     int warmUp) const {
  return collectiveSamples(ranks, spec_.group, reading(), warmUp);
}

void CollectiveMeasurement::store(core::Profile& profile, core::Origin origin) const {
  const Estimate found = result();
  core::ProfiledCollective point;
  point.kind = spec_.kind;
  point.bytes = spec_.bytes();
  point.ranks = spec_.group.size;
  point.ranksPerNode = ranksPerNode_;
  if (!anyType_) point.dtype = spec_.dtype;
  point.seconds = found.median;
  point.origin = withError(std::move(origin), found);
  point.aligned = spec_.aligned16;
  point.stride = spec_.group.stride;
  profile.collectives.push_back(std::move(point));
}

core::ProfiledOperation profiled(const core::Operation& op) {
  core::ProfiledOperation point;
  point.name = op.name;
  point.kind = op.kind;
  point.dtype = op.dtype;
  switch (op.kind) {
    case core::OpKind::gemm:
    case core::OpKind::groupedGemm:
      point.m = op.m;
      point.n = op.n;
      point.k = op.k;
      point.groups = op.groups;
      break;
    case core::OpKind::attentionForward:
    case core::OpKind::attentionBackward:
      point.batch = op.batch;
      point.sequence = op.sequence;
      point.heads = op.heads;
      point.kvHeads = op.kvHeads;
      point.headDim = op.headDim;
      break;
    case core::OpKind::memory:
      point.bytes = (op.bytesRead + op.bytesWritten) / std::max(1, op.count);
      break;
  }
  return point;
}

OperationMeasurement::OperationMeasurement(const core::Operation& operation, Reading reading)
    : RepeatedMeasurement(titleOf(operation), reading), operation_(operation) {
  const double work = std::max(operation.causalFlops, operation.flops);
  setFamily(fmt::format("{} {}", static_cast<int>(operation.kind), core::name(operation.dtype)),
            work > 0 ? work : static_cast<double>(operation.bytesRead + operation.bytesWritten));
}

ProgramPointer OperationMeasurement::program(const Counts& counts) const {
  return operationProgram(operation_, counts.front());
}

std::vector<double> OperationMeasurement::samplesOf(const std::vector<Repetitions>& ranks, int warmUp) const {
  return kernelSamples(ranks, reading(), warmUp);
}

void OperationMeasurement::store(core::Profile& profile, core::Origin origin) const {
  const Estimate found = result();
  core::ProfiledOperation point = profiled(operation_);
  // One kernel of a program may stand for several launches; a profile states one.
  point.seconds = found.median / std::max(1, operation_.count);
  point.origin = withError(std::move(origin), found);
  profile.operations.push_back(std::move(point));
}

KernelMeasurement::KernelMeasurement(ProgramPointer program, core::Index kernel, Reading reading)
    : OperationMeasurement(program->operations[program->kernels[kernel].operation], reading),
      program_(std::move(program)),
      kernel_(kernel) {}

ProgramPointer KernelMeasurement::program(const Counts& counts) const {
  return kernelProgram(*program_, kernel_, counts.front());
}

}  // namespace vsim::gpu
