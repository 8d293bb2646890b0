#include "gpu/host/host_kernels.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/optim/optimizer.h"
#include "gpu/rounding.h"
#include "gpu/synthetic.h"

namespace vsim::gpu {
namespace {

using core::Index;
using core::KernelRole;
using core::Segment;
using core::TensorRange;
using core::UnitTensor;

std::span<float> part(HostBlock& block, std::int64_t first, std::int64_t count) {
  const std::span<float> all = block.data();
  VSIM_CHECK(first >= 0 && count >= 0 && static_cast<std::size_t>(first + count) <= all.size(),
             "a kernel leaves its buffer");
  return all.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

void copyRounded(std::span<const float> from, std::span<float> to, core::DType type) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = roundTo(type, from[i]);
}

class Launch {
 public:
  Launch(const DataPlan& plan, std::uint64_t seed, const KernelLaunch& launch)
      : plan_(plan),
        seed_(seed),
        l_(launch),
        kernel_(*launch.kernel),
        unit_(plan.program().units[kernel_.unit]),
        table_(plan.tensors(kernel_.unit)) {}

  void run() {
    switch (kernel_.role) {
      case KernelRole::compute:
        return;
      case KernelRole::copyIn:
        return copyIn();
      case KernelRole::copyOut:
        return copyOut();
      case KernelRole::gradient:
        return gradient();
      case KernelRole::reduceCopyIn:
        return reduceCopyIn();
      case KernelRole::accumulate:
        return add(!l_.fresh);
      case KernelRole::castOut:
        return add(false);
      case KernelRole::optimizer:
        return optimizer();
      case KernelRole::zero:
        for (HostBlock* block : l_.writes) std::ranges::fill(block->data(), 0.0F);
        return;
    }
  }

 private:
  [[nodiscard]] core::DType typeOf(Index buffer) const { return plan_.program().buffers[buffer].dtype; }
  [[nodiscard]] std::int64_t sliceOf(Index buffer) const {
    return plan_.ownSlice(buffer, kernel_.unit, l_.rank);
  }
  [[nodiscard]] Index output() const { return kernel_.writes.front(); }

  void copyIn() {
    const std::int64_t count = unit_.shardElements;
    copyRounded(part(*l_.reads.front(), 0, count), part(*l_.writes.front(), sliceOf(output()), count),
                typeOf(output()));
  }

  void copyOut() {
    VSIM_CHECK(l_.writes.size() == table_.size(), "copy-out has one output per tensor");
    for (std::size_t t = 0; t < table_.size(); ++t)
      for (const Segment& s : copyOutSegments(unit_, table_[t]))
        copyRounded(part(*l_.reads.front(), s.from, s.count), part(*l_.writes[t], s.to, s.count),
                    typeOf(kernel_.writes[t]));
  }

  void gradient() {
    HostBlock& target = *l_.writes.front();
    const auto packed = plan_.packed(output());
    if (!packed && l_.fresh) std::ranges::fill(target.data(), 0.0F);  // padding
    std::int64_t at = 0;
    for (Index t = kernel_.firstTensor; t < kernel_.firstTensor + kernel_.tensorCount; ++t) {
      const UnitTensor& tensor = table_[t];
      const GradientValues values({seed_, unit_.name + "." + tensor.name, coordinate()}, l_.rank, l_.step,
                                  l_.microBatch);
      const std::span<float> to = part(target, packed ? at : tensor.offset, tensor.elements);
      for (std::int64_t i = 0; i < tensor.elements; ++i)
        to[static_cast<std::size_t>(i)] = roundTo(typeOf(output()), values(i));
      at += tensor.elements;
    }
  }
  [[nodiscard]] std::int64_t coordinate() const { return plan_.coordinateOf(kernel_.unit, l_.rank); }

  void reduceCopyIn() {
    HostBlock& target = *l_.writes.front();
    std::ranges::fill(target.data(), 0.0F);
    for (std::size_t r = 0; r < l_.reads.size(); ++r) {
      const auto packed = plan_.packed(kernel_.reads[r]);
      VSIM_CHECK(packed.has_value(), "the reduction's input is made of unsharded gradients");
      std::int64_t at = 0;
      for (Index t = packed->first; t < packed->first + packed->count; ++t) {
        for (const Segment& s : gatheredSegments(unit_, table_[t]))
          copyRounded(part(*l_.reads[r], at + s.from, s.count), part(target, s.to, s.count),
                      typeOf(output()));
        at += table_[t].elements;
      }
    }
  }

  /// writes = reads, or writes += reads: whole tensors where both are unsharded, else the rank's shard.
  void add(bool toOld) {
    const bool packed = plan_.packed(output()).has_value();
    for (std::size_t r = 0; r < l_.reads.size(); ++r) {
      std::int64_t from = sliceOf(kernel_.reads[r]), to = sliceOf(output()), count = unit_.shardElements;
      if (packed) {
        const auto range = plan_.packed(kernel_.reads[r]);
        VSIM_CHECK(range.has_value(), "unsharded gradients are added to unsharded gradients");
        from = 0;
        to = elementsOf(table_, {0, range->first});
        count = elementsOf(table_, *range);
      }
      const std::span<const float> source = part(*l_.reads[r], from, count);
      const std::span<float> target = part(*l_.writes.front(), to, count);
      for (std::size_t i = 0; i < source.size(); ++i)
        target[i] = roundTo(typeOf(output()), toOld ? target[i] + source[i] : source[i]);
    }
  }

  /// reads: gradients, parameters, states; states: all first moments, then all second ones.
  void optimizer() {
    VSIM_CHECK(l_.reads.size() == 3, "the optimizer reads gradients, parameters and states");
    const auto count = unit_.shardElements;
    const std::span<const float> gradients = part(*l_.reads[0], sliceOf(kernel_.reads[0]), count);
    const std::span<float> parameters = part(*l_.reads[1], 0, count);
    const std::span<float> states = part(*l_.reads[2], 0, 2 * count);
    const auto n = static_cast<std::size_t>(count);
    if (l_.step == 0) std::ranges::fill(states, 0.0F);
    for (std::size_t i = 0; i < n; ++i) {
      const core::AdamwState next =
          core::adamwStep({parameters[i], states[i], states[n + i]}, gradients[i], l_.step + 1);
      parameters[i] = roundTo(typeOf(kernel_.reads[1]), next.parameter);
      states[i] = next.exponentialAverage;
      states[n + i] = next.exponentialAverageSquare;
    }
  }

  const DataPlan& plan_;
  std::uint64_t seed_;
  const KernelLaunch& l_;
  const core::Kernel& kernel_;
  const core::Unit& unit_;
  const std::vector<UnitTensor>& table_;
};

}  // namespace

void runKernel(const DataPlan& plan, std::uint64_t seed, const KernelLaunch& launch) {
  if (launch.kernel->role != KernelRole::compute) Launch(plan, seed, launch).run();
}

void fillParameters(const DataPlan& plan, std::uint64_t seed, Index unitIndex, int rank, HostBlock& shard) {
  const core::Unit& unit = plan.program().units[unitIndex];
  const core::DType type = plan.program().buffers[unit.parameters].dtype;
  std::ranges::fill(shard.data(), 0.0F);
  for (const UnitTensor& tensor : plan.tensors(unitIndex)) {
    const InitialValues values({seed, unit.name + "." + tensor.name, plan.coordinateOf(unitIndex, rank)});
    for (const Segment& s : shardSegments(unit, tensor, plan.shardOf(unitIndex, rank))) {
      const std::span<float> to = part(shard, s.to, s.count);
      for (std::int64_t i = 0; i < s.count; ++i)
        to[static_cast<std::size_t>(i)] = roundTo(type, values(s.from + i));
    }
  }
}

}  // namespace vsim::gpu
