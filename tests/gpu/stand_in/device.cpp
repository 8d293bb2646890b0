#include "tests/gpu/stand_in/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace vsim::test {

using gpu::device::Status;

namespace {

constexpr std::size_t kAlignment = 512, kRedZone = 512;
constexpr std::byte kPoison{0xff}, kRed{0xb7};

}  // namespace

Status StandInDevice::allocate(void*& out, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (used_ + static_cast<core::Bytes>(bytes) > capacity_)
    return {gpu::device::kOutOfMemory, "allocate: out of memory (2)"};
  const std::size_t whole = bytes + 2 * kRedZone + kAlignment;
  Allocation allocation{std::unique_ptr<std::byte[]>(new std::byte[whole]), bytes};
  const auto start = reinterpret_cast<std::uintptr_t>(allocation.storage.get());
  const std::uintptr_t address = (start + kRedZone + kAlignment - 1) / kAlignment * kAlignment;
  auto* const memory = reinterpret_cast<std::byte*>(address);
  std::fill(memory - kRedZone, memory, kRed);
  std::fill(memory, memory + bytes, kPoison);
  std::fill(memory + bytes, memory + bytes + kRedZone, kRed);
  allocations_[address] = std::move(allocation);
  used_ += static_cast<core::Bytes>(bytes);
  out = memory;
  return {};
}

Status StandInDevice::release(void* memory) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == allocations_.end()) {
    violations_.add(fmt::format("device {}: free of memory that is not allocated", number_));
    return {1, "free: invalid argument (1)"};
  }
  const auto* const begin = static_cast<const std::byte*>(memory);
  const auto red = [](std::byte byte) { return byte == kRed; };
  const std::size_t bytes = found->second.bytes;
  if (!std::all_of(begin - kRedZone, begin, red) ||
      !std::all_of(begin + bytes, begin + bytes + kRedZone, red))
    violations_.add(fmt::format("device {}: something was written beside an allocation", number_));
  used_ -= static_cast<core::Bytes>(bytes);
  allocations_.erase(found);
  return {};
}

bool StandInDevice::touches(const void* memory, std::size_t bytes, std::size_t alignment, const char* who) {
  if (bytes == 0) return true;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  std::string problem;
  {
    const std::lock_guard lock(mutex_);
    auto after = allocations_.upper_bound(address);
    if (after == allocations_.begin())
      problem = "memory that is not allocated";
    else if (const auto& [at, allocation] = *std::prev(after); address + bytes > at + allocation.bytes)
      problem = "memory that is not allocated";
    else if (address % alignment != 0)
      problem = "a misaligned address";
  }
  if (problem.empty()) return true;
  violations_.add(fmt::format("device {}: {} touches {}", number_, who, problem));
  breakDown({700, fmt::format("{}: an illegal memory access was encountered (700)", who)});
  return false;
}

void StandInDevice::breakDown(const Status& status) {
  const std::lock_guard lock(mutex_);
  if (status_.ok()) status_ = status;
}

Status StandInDevice::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

core::Bytes StandInDevice::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

std::size_t StandInDevice::allocations() const {
  const std::lock_guard lock(mutex_);
  return allocations_.size();
}

}  // namespace vsim::test
