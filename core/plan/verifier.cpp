#include "core/plan/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace vsim::core {
namespace {

class Verifier {
 public:
  Verifier(const LayoutProblem& problem, const Layout& layout) : problem_(problem), layout_(layout) {}

  Errors run() {
    sizes();
    if (!errors_.empty()) return std::move(errors_);
    lengths_.reserve(problem_.tensors.size());
    if (layout_.contiguous)
      contiguousTensors();
    else
      slots();
    if (errors_.empty()) overlaps();
    return std::move(errors_);
  }

 private:
  template <class... Args>
  void wrong(fmt::format_string<Args...> format, Args&&... args) {
    errors_.push_back(Error{.message = fmt::format(format, std::forward<Args>(args)...)});
  }

  void sizes() {
    if (layout_.devices != problem_.devices || layout_.devices < 1)
      wrong("layout for {} devices, problem for {}", layout_.devices, problem_.devices);
    if (layout_.offsets.size() != problem_.tensors.size())
      wrong("{} offsets for {} tensors", layout_.offsets.size(), problem_.tensors.size());
    if (layout_.shardElements < 0) wrong("shard of {} elements", layout_.shardElements);
    __int128 sum = 0;
    for (const PlanTensor& tensor : problem_.tensors) sum += tensor.elements;
    if (sum != layout_.unitElements)
      wrong("{} elements counted as {}", static_cast<std::int64_t>(sum), layout_.unitElements);
    if (layout_.lowerBound > layout_.shardElements)
      wrong("shard of {} elements below its own lower bound {}", layout_.shardElements, layout_.lowerBound);
    total_ = static_cast<__int128>(layout_.devices) * layout_.shardElements;
    if (total_ >> 62 != 0) wrong("the buffer of all shards exceeds 2^62 elements");
  }

  void contiguousTensors() {
    const std::int64_t shard = layout_.shardElements;
    if (problem_.unit < 1 || shard % problem_.unit != 0)
      wrong("shard of {} elements is no multiple of {}", shard, problem_.unit);
    for (std::size_t i = 0; i < problem_.tensors.size() && errors_.size() < 100; ++i) {
      const PlanTensor& tensor = problem_.tensors[i];
      const std::int64_t start = layout_.offsets[i];
      lengths_.push_back(tensor.elements);
      if (start < 0 || static_cast<__int128>(start) + tensor.elements > total_) {
        wrong("'{}' at {} with {} elements leaves the buffer", tensor.name, start, tensor.elements);
        continue;
      }
      if (problem_.align < 1 || start % problem_.align != 0)
        wrong("'{}' starts at {}, no multiple of {}", tensor.name, start, problem_.align);
      boundaries(tensor, start);
    }
  }

  // A boundary k*S strictly inside the tensor must lie on one of its blocks. When the first and the second
  // one do, their distance S is a multiple of the block, and so do all others: two tests serve for any number
  // of devices.
  void boundaries(const PlanTensor& tensor, std::int64_t start) {
    const std::int64_t shard = layout_.shardElements;
    if (tensor.elements == 0) return;
    const std::int64_t first = (start / shard + 1) * shard;
    for (int k = 0; k < 2; ++k) {
      const std::int64_t inside = first - start + k * shard;
      if (inside >= tensor.elements) return;
      if (tensor.block < 1 || inside % tensor.block != 0) {
        wrong("'{}' at {} is cut after {} elements, inside a block of {}", tensor.name, start, inside,
              tensor.block);
        return;
      }
    }
  }

  void slots() {
    for (std::size_t i = 0; i < problem_.tensors.size() && errors_.size() < 100; ++i) {
      const PlanTensor& tensor = problem_.tensors[i];
      lengths_.push_back(0);
      const auto dim = static_cast<std::size_t>(tensor.shardDim);
      if (tensor.shardDim < 0 || dim >= tensor.shape.size()) {
        wrong("'{}' has no dimension {}", tensor.name, tensor.shardDim);
        continue;
      }
      const std::int64_t slices = tensor.shape[dim];
      if (slices <= 0) continue;
      // Devices * count >= slices: every slice has an owner.
      const std::int64_t count = (slices - 1) / layout_.devices + 1;
      lengths_.back() = count * (tensor.elements / slices);
      if (layout_.offsets[i] < 0 || layout_.offsets[i] > layout_.shardElements - lengths_.back())
        wrong("slot of '{}' at {} with {} elements leaves the shard", tensor.name, layout_.offsets[i],
              lengths_.back());
    }
  }

  void overlaps() {
    std::vector<std::size_t> order(lengths_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto before = [&](std::size_t a, std::size_t b) {
      if (layout_.offsets[a] != layout_.offsets[b]) return layout_.offsets[a] < layout_.offsets[b];
      return lengths_[a] < lengths_[b];
    };
    // Most layouts come in ascending order: looking first spares the sort.
    if (!std::is_sorted(order.begin(), order.end(), before)) std::sort(order.begin(), order.end(), before);
    std::int64_t end = 0;
    std::size_t last = 0;
    for (const std::size_t i : order) {
      if (lengths_[i] == 0) continue;
      if (layout_.offsets[i] < end)
        wrong("'{}' at {} overlaps '{}', which ends at {}", problem_.tensors[i].name, layout_.offsets[i],
              problem_.tensors[last].name, end);
      end = layout_.offsets[i] + lengths_[i];
      last = i;
    }
  }

  const LayoutProblem& problem_;
  const Layout& layout_;
  __int128 total_ = 0;
  std::vector<std::int64_t> lengths_;  // of the run each offset starts
  Errors errors_;
};

}  // namespace

Errors verifyLayout(const LayoutProblem& problem, const Layout& layout) {
  return Verifier(problem, layout).run();
}

}  // namespace vsim::core
