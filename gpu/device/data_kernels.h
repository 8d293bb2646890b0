#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "gpu/data_plan.h"
#include "gpu/device/device_block.h"

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
/// Tables of the segments that copies move are made and uploaded once. The rank's host thread only.
class DataKernels {
 public:
  DataKernels(const RankContext& context, const DataPlan& plan, std::uint64_t seed, Stream upload);

  void launch(const DataLaunch& launch, Stream stream);
  /// The rank's shard of a unit's parameters before the first step; padding is zero.
  void fillParameters(core::Index unit, std::byte* shard, Stream stream);
  void abandon();

 private:
  struct Table {
    std::size_t first = 0;  // into the block of all tables
    std::int64_t count = 0, longest = 0, elements = 0;
  };
  enum class Move : std::uint8_t { copyOut, gather };
  // Units alike share tables: (move, tensor table, unit's shape, tensors).
  using Key = std::tuple<Move, core::Index, bool, std::int64_t, std::int64_t, core::Index, core::Index>;

  static Key keyOf(Move move, const core::Unit& unit, core::TensorRange range);
  void addTable(Move move, const core::Unit& unit, core::TensorRange range,
                std::vector<CopySegment>& segments);
  void copy(const Key& key, const BufferMemory& from, const BufferMemory& to, Stream stream);
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
  std::map<Key, Table> tables_;
  std::unique_ptr<DeviceBlock> segments_;
};

}  // namespace vsim::gpu::device
