#include "gpu/calibrate/measure_sequence.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

namespace vsim::gpu {

using core::Index;
using core::InstructionKind;
using core::kNone;

namespace {

constexpr int kFewest = 3, kMost = 200;

/// Kernels that take time, in the order of the step.
std::vector<Index> kernelsOf(const core::StepProgram& program) {
  std::vector<Index> kernels;
  for (const core::Instruction& instruction : program.step)
    if (instruction.kind == InstructionKind::kernel && !instruction.firstStepOnly &&
        program.kernels[instruction.operand].operation != kNone)
      kernels.push_back(instruction.operand);
  return kernels;
}

std::set<Index> takenIn(const std::vector<core::Instruction>& instructions) {
  std::set<Index> buffers;
  for (const core::Instruction& instruction : instructions)
    if (instruction.kind == InstructionKind::allocate) buffers.insert(instruction.operand);
  return buffers;
}

}  // namespace

ProgramPointer sequenceProgram(const core::StepProgram& program, int repetitions) {
  const std::vector<Index> kernels = kernelsOf(program);
  if (kernels.empty()) return nullptr;
  core::ProgramBuilder builder("calibration");
  builder.program() = program;
  core::StepProgram& derived = builder.program();
  derived.step.clear();
  derived.events = 0;
  std::set<Index> live = takenIn(program.setup);
  for (const core::Instruction& instruction : program.setup)
    if (instruction.kind == InstructionKind::release) live.erase(instruction.operand);
  std::vector<Index> taken;
  for (const Index buffer : takenIn(program.step))
    if (!live.contains(buffer)) taken.push_back(buffer);
  builder.beginStep();
  builder.setPhase(core::Phase::forward);
  for (const Index buffer : taken) builder.allocate(buffer);
  // A step may give back what was taken in the setup: it stays here.
  for (int i = 0; i < repetitions; ++i)
    for (const Index kernel : kernels) builder.launch(kernel, 0);
  // The buffers' pools wait for the work on them.
  for (std::size_t stream = 1; stream < derived.streams.size(); ++stream)
    builder.waitStream(static_cast<core::StreamId>(stream), 0);
  for (const Index buffer : taken) builder.release(buffer);
  return std::make_shared<const core::StepProgram>(std::move(builder).take());
}

SequenceMeasurement::SequenceMeasurement(ProgramPointer program)
    : Measurement(fmt::format("kernels of {}, one after the other", program->system)),
      program_(std::move(program)),
      sums_(program_->operations.size()) {
  for (const Index kernel : kernelsOf(*program_)) launches_.push_back(program_->kernels[kernel].operation);
}

ProgramPointer SequenceMeasurement::program(const Counts& counts) const {
  return sequenceProgram(*program_, counts.front());
}

Counts SequenceMeasurement::next(double seconds) const {
  if (each_ <= 0) return {1 + kFewest};
  return {1 + static_cast<int>(std::clamp(2 * seconds / each_, double{kFewest}, double{kMost}))};
}

void SequenceMeasurement::take(const core::ExecutionLog& log) {
  ++executions_;
  const std::size_t length = launches_.size();
  std::vector<Repetitions> ranks;
  for (const core::RankLog& rank : log.ranks) ranks.push_back(repetitionsOf(rank, 0, 0));
  if (ranks.empty() || ranks.front().size() <= length) return;
  // From the second repetition on, while all ranks are at work; where they hardly meet, for they have little
  // to do, that does not matter.
  Window window = commonWindow(ranks, static_cast<int>(length));
  const Window own{ranks.front()[length - 1].end, ranks.front().back().end};
  if (window.seconds() < own.seconds() / 2) window = {0, std::numeric_limits<core::Picoseconds>::max()};
  Sum all;
  std::vector<Sum> sums(sums_.size());
  for (const Repetitions& list : ranks)
    for (std::size_t i = length; i < list.size(); ++i) {
      if (list[i].end <= window.begin || list[i].end > window.end) continue;
      const double seconds = core::secondsFromPicoseconds(list[i].end - list[i - 1].end);
      for (Sum* sum : {&sums[launches_[i % length]], &all}) {
        sum->seconds += seconds;
        ++sum->launches;
      }
    }
  if (all.launches == 0) return;
  each_ = all.seconds / all.launches * static_cast<double>(length);
  if (executions_ == 1) return;  // finds the machine cold
  totals_.push_back(each_);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums_[i].seconds += sums[i].seconds;
    sums_[i].launches += sums[i].launches;
  }
}

bool SequenceMeasurement::settled(double targetError) const {
  return result().relativeHalfWidth() <= targetError;
}

// The means of the kernels, such that a sequence takes the median of the executions: some may have been
// disturbed.
void SequenceMeasurement::store(core::Profile& profile, core::Origin origin) const {
  const Estimate found = result();
  const double mean = std::reduce(totals_.begin(), totals_.end()) / static_cast<double>(totals_.size());
  origin.relativeError = found.relativeError();
  for (Index i = 0; i < sums_.size(); ++i) {
    if (sums_[i].launches == 0) continue;
    const core::Operation& operation = program_->operations[i];
    core::ProfiledOperation point = profiled(operation);
    point.seconds =
        sums_[i].seconds / sums_[i].launches * (found.median / mean) / std::max(1, operation.count);
    point.origin = origin;
    profile.operations.push_back(std::move(point));
  }
}

}  // namespace vsim::gpu
