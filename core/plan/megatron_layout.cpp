#include "core/plan/megatron_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/checked.h"
#include "core/plan/baseline_layout.h"
#include "core/plan/first_at_most.h"

namespace vsim::core {
namespace {

enum class Version { v1, v2 };

constexpr std::int64_t kLargestChunk = std::int64_t{1} << 60;

/// Elements of all dimensions but the first; 1 for what has none or is empty in them.
std::optional<std::int64_t> rowElements(const PlanTensor& tensor) {
  std::optional<std::int64_t> row = 1;
  for (std::size_t dim = 1; dim < tensor.shape.size() && row; ++dim)
    row = checkedMultiply(*row, tensor.shape[dim]);
  return row ? std::max<std::int64_t>(*row, 1) : row;
}

/// The tensors of a bucket in the order in which they are placed.
struct Bucket {
  std::vector<std::size_t> order;  // indices into the problem
  std::vector<std::int64_t> rows;  // by index into the problem
  std::int64_t chunk = 1;
};

Result<Bucket> bucketOf(std::span<const PlanTensor> tensors, Version version) {
  Bucket bucket;
  for (const PlanTensor& tensor : tensors) {
    const auto row = rowElements(tensor);
    if (!row || *row > kLargestChunk)
      return fail(fmt::format("tensor '{}': a row exceeds 2^60 elements", tensor.name));
    bucket.rows.push_back(*row);
  }
  bucket.order.resize(tensors.size());
  std::iota(bucket.order.begin(), bucket.order.end(), std::size_t{0});
  std::stable_sort(bucket.order.begin(), bucket.order.end(),
                   [&](std::size_t a, std::size_t b) { return bucket.rows[a] > bucket.rows[b]; });
  if (!bucket.order.empty()) bucket.chunk = bucket.rows[bucket.order.front()];
  for (const std::size_t i : bucket.order) {
    if (version == Version::v1 && tensors[i].elements < bucket.chunk) continue;
    const auto common = checkedLcm(bucket.chunk, bucket.rows[i]);
    if (!common || *common > kLargestChunk)
      return fail(fmt::format("tensor '{}': the common multiple of the row sizes exceeds 2^60 elements",
                              tensors[i].name));
    bucket.chunk = *common;
  }
  return bucket;
}

class Placement {
 public:
  Placement(std::span<const PlanTensor> tensors, const Bucket& bucket, Version version)
      : tensors_(tensors), bucket_(bucket), version_(version), offsets_(tensors.size(), 0) {
    for (const std::size_t i : bucket.order)
      (tensors[i].elements < bucket.chunk ? fragments_ : regular_).push_back(i);
    if (version == Version::v2)
      std::stable_sort(fragments_.begin(), fragments_.end(), [&](std::size_t a, std::size_t b) {
        return tensors[a].elements > tensors[b].elements;
      });
  }

  /// Starts, in the problem's order.
  std::vector<std::int64_t> offsets() && { return std::move(offsets_); }

  /// First position behind all tensors; gaps that nothing fills count.
  std::int64_t place() {
    std::vector<std::int64_t> rests, sizes;
    for (const std::size_t i : regular_) {
      // One that ends with a chunk is nobody's partner: it has no rest to put before a boundary.
      const std::int64_t rest = tensors_[i].elements % bucket_.chunk;
      rests.push_back(rest == 0 ? bucket_.chunk : rest);
    }
    for (const std::size_t i : fragments_) sizes.push_back(tensors_[i].elements);
    FirstAtMost partners(rests), fragments(sizes);

    std::int64_t end = 0;
    std::vector<bool> placed(regular_.size(), false);
    for (std::size_t k = 0; k < regular_.size(); ++k) {
      if (placed[k]) continue;
      partners.remove(k);
      offsets_[regular_[k]] = end;
      end += tensors_[regular_[k]].elements;
      if (rests[k] == bucket_.chunk) continue;
      const std::int64_t gap = bucket_.chunk - rests[k], boundary = end + gap;
      const auto partner = partners.find(k + 1, gap);
      if (!partner) {
        fill(fragments, end, boundary);
        end = boundary;
        continue;
      }
      const std::size_t other = regular_[*partner];
      partners.remove(*partner);
      placed[*partner] = true;
      offsets_[other] = boundary - rests[*partner];
      fill(fragments, end, offsets_[other]);
      end = offsets_[other] + tensors_[other].elements;
    }
    return fill(fragments, end, std::nullopt);
  }

 private:
  /// Puts those fragments, in order, that fit between `position` and `end` (nullopt: all that are left).
  /// Returns where the last one ends.
  std::int64_t fill(FirstAtMost& fragments, std::int64_t position, std::optional<std::int64_t> end) {
    for (std::size_t k = 0;; ++k) {
      const auto next = fragments.find(k, end ? *end - position : kLargestChunk);
      if (!next) return position;
      k = *next;
      const std::size_t i = fragments_[k];
      const bool aligned = version_ == Version::v2 && tensors_[i].elements > 0;
      const std::int64_t start = aligned ? roundUp(position, bucket_.rows[i]) : position;
      if (end && start + tensors_[i].elements > *end) continue;
      fragments.remove(k);
      offsets_[i] = start;
      position = start + tensors_[i].elements;
    }
  }

  std::span<const PlanTensor> tensors_;
  const Bucket& bucket_;
  Version version_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::size_t> regular_, fragments_;  // at least, less than a chunk
};

Result<Layout> layoutOf(const LayoutProblem& problem, Version version) {
  if (auto error = problemError(problem)) return tl::unexpected(std::move(*error));
  const auto bucket = bucketOf(problem.tensors, version);
  if (!bucket) return tl::unexpected(bucket.error());
  Placement placement(problem.tensors, *bucket, version);
  const std::int64_t used = placement.place();
  // Rounding to devices * chunk gives every device the same number of chunks.
  const std::int64_t chunks = ceilDivide(ceilDivide(used, bucket->chunk), problem.devices);
  const auto shard = checkedMultiply(chunks, bucket->chunk);
  if (!shard) return fail(fmt::format("{} chunks of {} elements overflow", chunks, bucket->chunk));
  return baselineLayout(problem, std::move(placement).offsets(), *shard, true);
}

LayoutProblem promiseOf(const LayoutProblem& problem, Version version) {
  LayoutProblem promise = problem;
  promise.unit = promise.align = 1;
  for (PlanTensor& tensor : promise.tensors) tensor.block = 1;
  const auto bucket = bucketOf(problem.tensors, version);
  if (!bucket) return promise;
  promise.unit = bucket->chunk;
  for (std::size_t i = 0; i < promise.tensors.size(); ++i)
    if (version == Version::v2 || promise.tensors[i].elements >= bucket->chunk)
      promise.tensors[i].block = bucket->rows[i];
  return promise;
}

Result<std::int64_t> chunkOf(std::span<const PlanTensor> tensors, Version version) {
  return bucketOf(tensors, version).map([](const Bucket& bucket) { return bucket.chunk; });
}

}  // namespace

Result<Layout> megatronLayout(const LayoutProblem& problem) { return layoutOf(problem, Version::v1); }
Result<Layout> megatronV2Layout(const LayoutProblem& problem) { return layoutOf(problem, Version::v2); }

Result<std::int64_t> megatronChunk(std::span<const PlanTensor> tensors) {
  return chunkOf(tensors, Version::v1);
}
Result<std::int64_t> megatronV2Chunk(std::span<const PlanTensor> tensors) {
  return chunkOf(tensors, Version::v2);
}

LayoutProblem megatronPromise(const LayoutProblem& problem) { return promiseOf(problem, Version::v1); }
LayoutProblem megatronV2Promise(const LayoutProblem& problem) { return promiseOf(problem, Version::v2); }

std::vector<std::vector<std::size_t>> megatronBuckets(std::span<const PlanTensor> tensors,
                                                      std::int64_t bucketElements) {
  const auto expert = [](const PlanTensor& tensor) {
    return tensor.name.find(".experts.") != std::string::npos;
  };
  std::vector<std::vector<std::size_t>> buckets;
  const bool expertsFirst = !tensors.empty() && expert(tensors.front());
  for (const bool experts : {expertsFirst, !expertsFirst}) {
    bool open = false;
    std::int64_t held = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (expert(tensors[i]) != experts) continue;
      if (!open) {
        buckets.emplace_back();
        held = 0;
      }
      buckets.back().push_back(i);
      held = checkedAdd(held, tensors[i].elements).value_or(bucketElements);
      open = bucketElements <= 0 || held < bucketElements;
    }
  }
  return buckets;
}

std::int64_t megatronTrainerBucketElements(std::int64_t devices) {
  return std::max<std::int64_t>(40'000'000, 1'000'000 * devices);
}

}  // namespace vsim::core
