#include "gpu/host/host_scratch.h"

namespace vsim::gpu {

void HostScratch::grow(std::size_t count) {
  constexpr std::size_t kPattern = 127;
  constexpr float kStep = 1.0F / 128;
  data_.clear();  // nothing to keep
  data_.resize(count);
  for (std::size_t i = 0; i < count; ++i)
    data_[i] = kStep * (static_cast<float>(i * 29 % kPattern) - static_cast<float>(kPattern / 2));
}

}  // namespace vsim::gpu
