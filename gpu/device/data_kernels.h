#pragma once

#include <vector>

#include "gpu/data_plan.h"
#include "gpu/device/segment_tables.h"

namespace vsim::gpu::device {

/// Memory of a buffer at the moment when a kernel was issued.
struct BufferMemory {
  core::Index buffer = 0;
  std::byte* memory = nullptr;
};

/// One launch of a kernel that moves data.
struct DataLaunch {
  const core::Kernel* kernel = nullptr;
  int step = 0, microBatch = 0;
  bool fresh = false;  // nothing has been written to the first output since it was allocated
  std::vector<BufferMemory> reads{}, writes{};
};

/// Issues the kernels that move data: what gpu/host does to floats, on memory of the buffers' own types.
/// A kernel that copies between many buffers is one launch. The rank's host thread only.
class DataKernels {
 public:
  DataKernels(const RankContext& context, const DataPlan& plan, std::uint64_t seed);

  void launch(const DataLaunch& launch, Stream stream);
  /// The rank's shard of a unit's parameters before the first step; padding is zero.
  void fillParameters(core::Index unit, std::byte* shard, Stream stream);
  void abandon();

 private:
  enum class Move : std::uint8_t { copyOut, gather };
  /// `tensors` of the kernel's unit from one buffer to another.
  struct Route {
    BufferMemory from, to;
    core::TensorRange tensors;
    Move move = Move::copyOut;
  };

  [[nodiscard]] std::vector<CopySegment> segmentsOf(const core::Unit& unit,
                                                    const std::vector<Route>& routes) const;
  void copy(const core::Kernel& kernel, std::vector<Route> routes, Stream stream);
  void cast(const BufferMemory& from, std::int64_t fromElement, const BufferMemory& to,
            std::int64_t toElement, std::int64_t count, bool add, Stream stream);
  void zero(const BufferMemory& target, Stream stream);
  void copyOut(const DataLaunch& launch, Stream stream);
  void gradient(const DataLaunch& launch, Stream stream);
  void reduceCopyIn(const DataLaunch& launch, Stream stream);
  void add(const DataLaunch& launch, bool toOld, Stream stream);
  void optimizer(const DataLaunch& launch, Stream stream);
  [[nodiscard]] core::DType typeOf(core::Index buffer) const { return program_.buffers[buffer].dtype; }
  [[nodiscard]] std::byte* element(const BufferMemory& buffer, std::int64_t index) const;
  [[nodiscard]] std::int64_t sliceOf(core::Index buffer, core::Index unit) const {
    return plan_.ownSlice(buffer, unit, context_.rank);
  }

  const RankContext& context_;
  const DataPlan& plan_;
  const core::StepProgram& program_;
  std::uint64_t seed_;
  SegmentTables tables_;
};

}  // namespace vsim::gpu::device
