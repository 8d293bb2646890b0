#include "sim/memory/device_memory.h"

#include "core/base/checked.h"

namespace vsim::sim {
namespace {

constexpr Bytes kUnit = 2 * kMebi;
constexpr std::uint64_t kLowest = std::uint64_t{1} << 41, kHighest = std::uint64_t{1} << 62;

}  // namespace

DeviceMemory::DeviceMemory(const AllocatorOptions& options, core::SegmentSource* source)
    : source_(source),
      capacity_(options.capacity),
      order_(options.addressOrder),
      recording_(options.recordDriverCalls),
      nextAddress_(order_ == AllocatorOptions::AddressOrder::ascending ? kLowest : kHighest) {}

DeviceMemory::~DeviceMemory() {
  for (std::size_t range = 0; range < held_.size(); ++range)
    if (held_[range]) source_->giveBack(ranges_[range].address);
}

std::optional<std::uint32_t> DeviceMemory::allocate(Bytes bytes) {
  const Bytes taken = core::roundUp(bytes, kUnit);
  if (taken > capacity_ - inUse_) {
    record(DriverCall::Kind::mallocFailed, 0, 0, bytes);
    return std::nullopt;
  }
  const auto real = source_ == nullptr ? std::nullopt : source_->obtain(bytes);
  if (source_ != nullptr && !real) {
    record(DriverCall::Kind::mallocFailed, 0, 0, bytes);
    return std::nullopt;
  }
  inUse_ += taken;
  const std::uint32_t range = real ? addRealRange(*real, bytes) : addRange(bytes);
  record(DriverCall::Kind::malloc, range, 0, bytes);
  return range;
}

void DeviceMemory::release(std::uint32_t range) {
  inUse_ -= core::roundUp(ranges_[range].size, kUnit);
  if (source_ != nullptr) {
    held_[range] = false;
    source_->giveBack(ranges_[range].address);
  }
  record(DriverCall::Kind::free, range, 0, ranges_[range].size);
}

std::uint32_t DeviceMemory::reserve(Bytes bytes) {
  const std::uint32_t range = addRange(bytes);
  record(DriverCall::Kind::reserve, range, 0, bytes);
  return range;
}

void DeviceMemory::freeAddresses(std::uint32_t range) {
  record(DriverCall::Kind::addressFree, range, 0, ranges_[range].size);
}

bool DeviceMemory::map(std::uint32_t range, Bytes offset, Bytes bytes, Bytes page) {
  if (bytes > capacity_ - inUse_) {
    record(DriverCall::Kind::createFailed, 0, 0, page);
    return false;
  }
  inUse_ += bytes;
  record(DriverCall::Kind::map, range, offset, bytes);
  return true;
}

void DeviceMemory::unmap(std::uint32_t range, Bytes offset, Bytes bytes) {
  inUse_ -= bytes;
  record(DriverCall::Kind::unmap, range, offset, bytes);
}

std::uint32_t DeviceMemory::addRange(Bytes bytes) {
  const auto step = static_cast<std::uint64_t>(core::roundUp(bytes, kUnit));
  std::uint64_t address = nextAddress_;
  if (order_ == AllocatorOptions::AddressOrder::ascending)
    nextAddress_ += step;
  else
    address = nextAddress_ -= step;
  ranges_.push_back({address, bytes});
  return static_cast<std::uint32_t>(ranges_.size() - 1);
}

std::uint32_t DeviceMemory::addRealRange(std::uint64_t address, Bytes bytes) {
  ranges_.push_back({address, bytes});
  held_.push_back(true);
  return static_cast<std::uint32_t>(ranges_.size() - 1);
}

void DeviceMemory::record(DriverCall::Kind kind, std::uint32_t range, Bytes offset, Bytes bytes) {
  if (recording_) calls_.push_back({kind, range, offset, bytes});
}

}  // namespace vsim::sim
