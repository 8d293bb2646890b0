#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/mesh/blocks.h"
#include "core/mesh/sharding.h"
#include "traces/safetensors.h"

namespace vsim::traces {

/// A distributed checkpoint: a folder with one safetensors file a rank (rank-00000.safetensors ...), whose
/// entries are boxes of the tensors, and checkpoint.json, which says which box lies where. It can be loaded
/// on any number of ranks with any placements.
inline constexpr int kCheckpointVersion = 1;
inline constexpr const char* kCheckpointIndexFile = "checkpoint.json";
/// Bytes of an index that is written and read.
inline constexpr std::int64_t kLargestCheckpointIndex = 1'000'000'000;
[[nodiscard]] std::string checkpointRankFile(std::int64_t rank);

/// A tensor as the ranks of a job hold it.
struct CheckpointTensor {
  std::string name;
  core::DType dtype = core::DType::fp32;
  core::Sharding sharding;
};

/// Writes the file of one rank: `local[i]` are the bytes of its flat local tensor i. Of replicas the first
/// writes. The folder is made when it is missing; the file appears whole or not at all. `label` says which
/// state this is ("step 100"): files of different labels are never mixed.
/// Errors: a folder that holds a checkpoint already; tensors on different numbers of ranks, twice, with a
/// Partial placement, of more than core::kMostTiledDims dimensions or with names that could be mistaken for
/// paths; local tensors of another size; what the system says.
[[nodiscard]] core::Result<void> saveCheckpointRank(const std::string& folder, const std::string& label,
                                                    std::int64_t rank,
                                                    std::span<const CheckpointTensor> tensors,
                                                    std::span<const std::span<const std::byte>> local);
/// Completes a checkpoint, once every rank has saved: without the index a folder is none. Errors: as above; a
/// rank file that is missing or is not the one that these tensors and this label give.
[[nodiscard]] core::Result<void> saveCheckpointIndex(const std::string& folder, const std::string& label,
                                                     std::span<const CheckpointTensor> tensors);

/// A complete checkpoint to load from. Reads the index when opened, of the rank files only the headers and
/// the bytes that a loading rank asks for. One thread at a time.
class Checkpoint {
 public:
  /// Where a box of a tensor lies.
  struct Part {
    core::TensorBlock block;
    std::size_t file = 0;
    std::string entry;
  };
  struct Tensor {
    core::DType dtype = core::DType::fp32;
    std::vector<std::int64_t> shape;
    std::vector<Part> parts;  // tile the tensor
  };

  /// Errors name the file: a missing or malformed index, an unknown version, file names that lead out of the
  /// folder, boxes outside their tensor, boxes that overlap or leave holes.
  [[nodiscard]] static core::Result<Checkpoint> open(const std::string& folder);

  [[nodiscard]] const std::string& label() const { return label_; }
  /// Ranks that saved it.
  [[nodiscard]] std::int64_t ranks() const { return static_cast<std::int64_t>(files_.size()); }
  [[nodiscard]] const std::map<std::string, Tensor>& tensors() const { return tensors_; }

  /// The bytes of the flat local tensor that `wanted` gives to `rank`. Errors: an unknown tensor, another
  /// shape or dtype than saved, a Partial placement; rank files that are missing, truncated, of another
  /// checkpoint or that do not hold what the index says.
  [[nodiscard]] core::Result<std::vector<std::byte>> load(const CheckpointTensor& wanted, std::int64_t rank);
  /// Bytes of tensor data that load() has taken from files so far.
  [[nodiscard]] std::int64_t bytesLoaded() const { return bytesLoaded_; }

 private:
  friend class CheckpointIndexReader;
  Checkpoint() = default;
  [[nodiscard]] std::string pathOf(std::size_t file) const;
  [[nodiscard]] core::Result<const SafetensorsHeader*> headerOf(std::size_t file, const InputFile& input);
  [[nodiscard]] core::Result<std::int64_t> dataPosition(const Tensor& tensor, const Part& part);

  std::string folder_, label_;
  std::vector<std::string> files_;
  std::map<std::string, Tensor> tensors_;
  std::map<std::size_t, SafetensorsHeader> headers_;  // of the files read so far
  std::int64_t bytesLoaded_ = 0;
};

}  // namespace vsim::traces
