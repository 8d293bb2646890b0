#pragma once

#include <cstdint>
#include <string>

namespace vsim::gpu {

/// Numbers that stand for a training run's data: the same for the same question, on every machine. Values are
/// multiples of 2^-23 in [-1, 1).

/// Which tensor: ranks that hold different tensors under one name (experts, slices of tensor parallelism)
/// differ in `coordinate`.
struct TensorKey {
  std::uint64_t seed = 0;
  std::string name;  // unit and tensor: "L1.weight"
  std::int64_t coordinate = 0;
};

/// Values of one tensor before the first step.
class InitialValues {
 public:
  explicit InitialValues(const TensorKey& key);
  [[nodiscard]] float operator()(std::int64_t element) const;
  /// What all its elements follow from: valueOfBase(base(), element) is the element.
  [[nodiscard]] std::uint64_t base() const { return base_; }

 private:
  std::uint64_t base_;
};

/// The gradient of one tensor that one rank finds in one micro-batch.
class GradientValues {
 public:
  GradientValues(const TensorKey& key, int rank, int step, int microBatch);
  [[nodiscard]] float operator()(std::int64_t element) const;
  /// What all its elements follow from: valueOfBase(base(), element) is the element.
  [[nodiscard]] std::uint64_t base() const { return base_; }

 private:
  std::uint64_t base_;
};

[[nodiscard]] float valueOfBase(std::uint64_t base, std::int64_t element);

/// A well mixed function of `x` (the finalizer of splitmix64: Steele, Lea and Flood, OOPSLA 2014).
[[nodiscard]] std::uint64_t mix(std::uint64_t x);

}  // namespace vsim::gpu
