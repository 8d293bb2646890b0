// Devices, memory, streams and events of the stand-in.

#include "tests/gpu/stand_in/stand_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace vsim::test {

using gpu::device::Status;

namespace {

constexpr int kInvalidValue = 1, kInvalidHandle = 400, kNotReady = 600, kInvalidDevice = 101;
thread_local int currentDevice = 0;

}  // namespace

int standInCurrentDevice() { return currentDevice; }

StandIn::StandIn(StandInOptions options) : options_(std::move(options)) {
  for (int d = 0; d < options_.devices; ++d)
    devices_.push_back(std::make_unique<StandInDevice>(d, options_.capacity, violations_));
  for (const Fault& fault : options_.faults) faults_.emplace_back(fault, 0);
}

StandIn::~StandIn() {
  over_.store(true);
  streams_.clear();
  destroyed_.clear();
}

std::vector<std::string> StandIn::leaks() const {
  std::vector<std::string> result;
  for (std::size_t d = 0; d < devices_.size(); ++d)
    if (devices_[d]->allocations() > 0)
      result.push_back(fmt::format("device {}: {} allocations of {} bytes", d, devices_[d]->allocations(),
                                   devices_[d]->used()));
  const std::lock_guard lock(mutex_);
  const auto note = [&](std::size_t count, const char* what) {
    if (count > 0) result.push_back(fmt::format("{} {}", count, what));
  };
  note(streams_.size(), "streams");
  note(events_.size(), "events");
  note(communicators_.size(), "communicators");
  note(registrations_.size(), "registered buffers");
  return result;
}

int StandIn::calls(const std::string& function) const {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(function);
  return found == calls_.end() ? 0 : found->second;
}

bool StandIn::strikes(Fault::Kind kind, int device, const char* function) {
  const std::lock_guard lock(mutex_);
  bool hit = false;
  for (auto& [fault, met] : faults_)
    if (fault.kind == kind && (fault.device < 0 || fault.device == device) && fault.call == function)
      hit |= ++met == fault.after;
  return hit;
}

Status StandIn::enter(const char* function, int device) {
  {
    const std::lock_guard lock(mutex_);
    ++calls_[function];
  }
  if (strikes(Fault::Kind::call, device, function)) {
    const std::lock_guard lock(mutex_);
    for (const auto& [fault, met] : faults_)
      if (fault.kind == Fault::Kind::call && fault.call == function && met == fault.after)
        return {fault.code, fmt::format("{}: {}", function, fault.text)};
  }
  return device < 0 ? Status{} : this->device(device).status();
}

Status StandIn::handleError(const char* function, const std::string& what) {
  violations_.add(fmt::format("{}: {}", function, what));
  return {kInvalidHandle, fmt::format("{}: invalid resource handle (400)", function)};
}

std::shared_ptr<StandInStream> StandIn::streamOf(Stream stream) const {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : found->second;
}

Status StandIn::versions(gpu::device::Versions& out) {
  out = {"1.0", "1.1", "1.2", "1.3"};
  return enter("versions", -1);
}

Status StandIn::deviceCount(int& out) {
  out = options_.devices;
  return enter("deviceCount", -1);
}

Status StandIn::deviceFacts(int device, gpu::device::DeviceFacts& out) {
  out = {.name = options_.deviceName,
         .computeCapability = options_.computeCapability,
         .sms = 1,
         .memory = options_.capacity,
         .clockHertz = 1e9};
  return enter("deviceFacts", device);
}

Status StandIn::useDevice(int device) {
  if (device < 0 || device >= options_.devices)
    return {kInvalidDevice, "useDevice: invalid device ordinal (101)"};
  currentDevice = device;
  return enter("useDevice", device);
}

Status StandIn::clocks(int device, gpu::device::ClockFacts& out) {
  if (device < 0 || device >= options_.devices)
    return {kInvalidDevice, "clocks: invalid device ordinal (101)"};
  out = {.smHertz = 0.9e9,
         .memoryHertz = 2e9,
         .powerWatts = 300,
         .celsius = 50,
         .throttled = options_.throttled};
  return {};
}

Status StandIn::allocate(void*& out, std::size_t bytes) {
  const Status entered = enter("allocate", currentDevice);
  return entered.ok() ? device(currentDevice).allocate(out, bytes) : entered;
}

Status StandIn::free(void* memory) {
  const Status entered = enter("free", currentDevice);
  if (memory == nullptr) return entered;
  std::vector<std::shared_ptr<StandInStream>> mine;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [handle, stream] : streams_)
      if (stream->device() == currentDevice) mine.push_back(stream);
  }
  for (const auto& stream : mine) stream->synchronize();
  const Status released = device(currentDevice).release(memory);
  return entered.ok() ? released : entered;
}

Status StandIn::memoryInfo(core::Bytes& free, core::Bytes& total) {
  total = device(currentDevice).capacity();
  free = total - device(currentDevice).used();
  return enter("memoryInfo", currentDevice);
}

Status StandIn::push(const char* function, Stream handle, std::vector<Range> ranges,
                     std::function<void()> work, bool kernel) {
  const auto stream = streamOf(handle);
  const Status entered = enter(function, stream ? stream->device() : -1);
  if (!entered.ok()) return entered;
  if (!stream) return handleError(function, "a stream that does not exist");
  if (kernel && stream->device() != currentDevice)
    return handleError(function, fmt::format("a stream of device {} while the thread uses device {}",
                                             stream->device(), currentDevice));
  stream->push(
      [this, function, number = stream->device(), ranges = std::move(ranges), work = std::move(work)] {
        StandInDevice& on = device(number);
        if (strikes(Fault::Kind::deviceError, number))
          on.breakDown({719, "unspecified launch failure (719)"});
        if (!on.status().ok()) return;
        for (const Range& range : ranges)
          if (!on.touches(range.memory, range.bytes, range.alignment, function)) return;
        work();
      });
  return {};
}

Status StandIn::copyToDevice(void* to, const void* from, std::size_t bytes, Stream stream) {
  const auto* const begin = static_cast<const std::byte*>(from);
  return push(
      "copyToDevice", stream, {{to, bytes, 1}},
      [to, data = std::vector<std::byte>(begin, begin + bytes)] {
        std::memcpy(to, data.data(), data.size());
      },
      false);
}

Status StandIn::copyToHost(void* to, const void* from, std::size_t bytes, Stream stream) {
  return push(
      "copyToHost", stream, {{from, bytes, 1}}, [=] { std::memcpy(to, from, bytes); }, false);
}

Status StandIn::fillBytes(void* memory, int byte, std::size_t bytes, Stream stream) {
  return push(
      "fillBytes", stream, {{memory, bytes, 1}}, [=] { std::memset(memory, byte, bytes); }, false);
}

Status StandIn::createStream(Stream& out, bool) {
  const Status entered = enter("createStream", currentDevice);
  if (!entered.ok()) return entered;
  const std::lock_guard lock(mutex_);
  auto made =
      std::make_shared<StandInStream>(currentDevice, options_.maxDelay, options_.seed + ++created_, over_);
  out = made.get();
  streams_[out] = std::move(made);
  return {};
}

Status StandIn::destroyStream(Stream stream) {
  const auto found = streamOf(stream);
  if (!found) return handleError("destroyStream", "a stream that does not exist");
  const Status entered = enter("destroyStream", found->device());
  found->finish();
  const std::lock_guard lock(mutex_);
  destroyed_.push_back(found);
  streams_.erase(stream);
  return entered;
}

Status StandIn::createEvent(Event& out, bool timed) {
  const Status entered = enter("createEvent", currentDevice);
  if (!entered.ok()) return entered;
  auto made = std::make_unique<EventState>(EventState{currentDevice, timed});
  out = made.get();
  const std::lock_guard lock(mutex_);
  events_[out] = std::move(made);
  return {};
}

Status StandIn::destroyEvent(Event event) {
  const Status entered = enter("destroyEvent", -1);
  {
    const std::lock_guard lock(mutex_);
    if (events_.erase(event) == 1) return entered;
  }
  return handleError("destroyEvent", "an event that does not exist");
}

Status StandIn::record(Event event, Stream stream) {
  const auto mark = std::make_shared<Mark>();
  const auto target = streamOf(stream);
  const Status entered = enter("record", target ? target->device() : -1);
  if (!entered.ok()) return entered;
  {
    const std::lock_guard lock(mutex_);
    const auto found = events_.find(event);
    if (target && found != events_.end() && found->second->device == target->device()) {
      found->second->latest = mark;
      target->push([mark] { mark->reach(); });
      return {};
    }
  }
  return handleError("record", "an event or a stream that does not exist, or of different devices");
}

Status StandIn::wait(Stream stream, Event event) {
  const auto target = streamOf(stream);
  const Status entered = enter("wait", target ? target->device() : -1);
  if (!entered.ok()) return entered;
  std::shared_ptr<Mark> mark;
  {
    const std::lock_guard lock(mutex_);
    const auto found = events_.find(event);
    if (target && found != events_.end()) {
      mark = found->second->latest;
      if (!mark) return {};
    }
  }
  if (!mark) return handleError("wait", "an event or a stream that does not exist");
  target->push([this, mark] { mark->wait(over_); });
  return {};
}

Status StandIn::query(Event event, bool& done) {
  int device = -1;
  {
    const std::lock_guard lock(mutex_);
    const auto found = events_.find(event);
    if (found != events_.end()) {
      device = found->second->device;
      done = !found->second->latest || found->second->latest->reached();
    }
  }
  if (device < 0) return handleError("query", "an event that does not exist");
  return enter("query", device);
}

Status StandIn::synchronize(Stream stream) {
  const auto target = streamOf(stream);
  if (!target) return handleError("synchronize", "a stream that does not exist");
  target->synchronize();
  return enter("synchronize", target->device());
}

Status StandIn::elapsed(Event begin, Event end, double& milliseconds) {
  std::shared_ptr<Mark> first, second;
  bool timed = false;
  {
    const std::lock_guard lock(mutex_);
    const auto a = events_.find(begin), b = events_.find(end);
    if (a != events_.end() && b != events_.end()) {
      first = a->second->latest;
      second = b->second->latest;
      timed = a->second->timed && b->second->timed;
    }
  }
  if (!first || !second || !timed)
    return handleError("elapsed", "an event that does not exist, was never recorded or is not timed");
  if (!first->reached() || !second->reached()) return {kNotReady, "elapsed: device not ready (600)"};
  milliseconds = std::chrono::duration<double, std::milli>(second->time() - first->time()).count();
  return enter("elapsed", -1);
}

}  // namespace vsim::test
