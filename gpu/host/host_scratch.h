#pragma once

#include <cstddef>
#include <vector>

namespace vsim::gpu {

/// Memory that grows to the largest request and holds small ordinary numbers (multiples of 2^-7 below 1/2),
/// so that arithmetic on it never meets a subnormal, an infinity or a NaN. Not thread-safe.
class HostScratch {
 public:
  /// The first `count` floats. Valid until a larger request.
  float* floats(std::size_t count) {
    if (count > data_.size()) grow(count);
    return data_.data();
  }

 private:
  void grow(std::size_t count);
  std::vector<float> data_;
};

}  // namespace vsim::gpu
