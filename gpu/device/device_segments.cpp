#include "gpu/device/device_segments.h"

namespace vsim::gpu::device {

std::optional<std::uint64_t> DeviceSegments::obtain(core::Bytes bytes) {
  void* memory = nullptr;
  const Status status = context_.api.allocate(memory, static_cast<std::size_t>(bytes));
  if (status.code == kOutOfMemory) return std::nullopt;
  context_.check(status);
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  std::vector<Registration>& registrations = segments_[address];
  for (RankCommunicator* communicator : communicators_) {
    const std::lock_guard lock(communicator->calls);
    if (communicator->dead()) continue;
    Registration made{communicator, nullptr};
    // Libraries and links that cannot do this say so: the collectives work all the same.
    const Status registered = context_.api.registerBuffer(communicator->comm(), memory,
                                                          static_cast<std::size_t>(bytes), made.handle);
    if (registered.ok() && made.handle != nullptr) registrations.push_back(made);
  }
  return address;
}

// Errors here leave memory to the end of the process: whoever gives back is often past caring.
void DeviceSegments::giveBack(std::uint64_t address) {
  const auto found = segments_.find(address);
  if (found == segments_.end() || abandoned_) return;
  for (const Registration& registration : found->second) {
    const std::lock_guard lock(registration.communicator->calls);
    if (!registration.communicator->dead())
      static_cast<void>(
          context_.api.deregisterBuffer(registration.communicator->comm(), registration.handle));
  }
  static_cast<void>(context_.api.free(reinterpret_cast<void*>(address)));
  segments_.erase(found);
}

}  // namespace vsim::gpu::device
