#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/plan/layout.h"

namespace vsim::core {

/// The layout of one parameter bucket of Megatron-FSDP (megatron.core.distributed.fsdp, 0.6.1 and 0.7.0rc0).
/// The tensors are taken by row size (elements of all dimensions but the first), largest first. Shards are
/// multiples of a chunk factor: the largest row, made a common multiple with the rows of those that do not
/// divide it evenly. Tensors of a chunk or more start on a chunk, or end a gap so that their rest follows on
/// one; smaller ones (fragments) fill what is left, and the tail. The whole is padded to devices * chunk.
/// Contiguous: offsets are starts in the gathered buffer, of which the parameters are views. Ranks cut
/// tensors of a chunk or more between rows and fragments anywhere. Blocks, unit and alignment do not count.
/// Errors: see problemError(); chunks or buffers beyond 2^62 elements.
[[nodiscard]] Result<Layout> megatronLayout(const LayoutProblem& problem);

/// The second, experimental version: the chunk factor is the common multiple of all rows, and fragments are
/// taken largest first and start at multiples of their row, so that no row of any tensor is cut. Chunks and
/// totals are those that the library records; where its fragments start has not been recorded.
[[nodiscard]] Result<Layout> megatronV2Layout(const LayoutProblem& problem);

/// Chunk factor of a bucket in elements, 1 without tensors. Errors: beyond 2^60 elements.
[[nodiscard]] Result<std::int64_t> megatronChunk(std::span<const PlanTensor> tensors);
[[nodiscard]] Result<std::int64_t> megatronV2Chunk(std::span<const PlanTensor> tensors);

/// The problems that the layouts solve: shards of whole chunks; rows as blocks, of tensors smaller than a
/// chunk only in the second version.
[[nodiscard]] LayoutProblem megatronPromise(const LayoutProblem& problem);
[[nodiscard]] LayoutProblem megatronV2Promise(const LayoutProblem& problem);

/// How Megatron-FSDP splits the tensors of one module, all of one dtype, into buckets: routed experts (known
/// by ".experts." in their name) and the others apart, in the order in which either comes first. With
/// `bucketElements` above zero, as for parameters outside of all wrapped modules, a bucket ends as soon as it
/// holds that many. Lists of indices into `tensors`.
[[nodiscard]] std::vector<std::vector<std::size_t>> megatronBuckets(std::span<const PlanTensor> tensors,
                                                                    std::int64_t bucketElements = 0);

/// The bucket size that Megatron's trainer sets: max(40e6, 1e6 * devices) elements; 1 <= devices <= 2^40.
[[nodiscard]] std::int64_t megatronTrainerBucketElements(std::int64_t devices);

}  // namespace vsim::core
