// The course of one rank's execution: setting up, steps, the end in peace or not.

#include <algorithm>
#include <thread>

#include "gpu/device/device_rank_parts.h"
#include "gpu/elements.h"
#include "gpu/rounding.h"

namespace vsim::gpu::device {

using core::Index;
using core::Instruction;
using core::InstructionKind;
using core::kNone;

DeviceRank::DeviceRank(const Setting& setting)
    : set_(setting),
      program_(setting.plan.program()),
      context_{setting.api, setting.control, setting.rank, setting.device, setting.host, {}},
      communicators_(setting.communicators.of(program_, setting.localRank)),
      lastStreams_(program_.groups.size(), kNone),
      fresh_(program_.buffers.size(), false) {
  context_.where = [this] { return here(); };
  log_.name = "rank " + std::to_string(setting.rank);
  log_.firstRank = setting.rank;
}

DeviceRank::~DeviceRank() = default;

void DeviceRank::run(int steps) {
  const auto guarded = [&](const auto& work) {
    try {
      work();
      return !set_.control.stopped();
    } catch (const RankFailure& failure) {
      set_.control.fail(failure.error());
    } catch (const std::exception& problem) {
      set_.control.fail({.message = context_.name() + ": " + problem.what()});
    }
    return false;
  };
  bool good = guarded([&] { setUp(); });
  set_.start.arrive();
  set_.start.waitForGo();
  good = good && guarded([&] {
           context_.checkStopped();
           playSteps(steps);
           collect();
         });
  cleanUp(!good);
}

void DeviceRank::makeStreams() {
  std::vector<bool> communicates(program_.streams.size(), false);
  for (const Instruction& i : program_.step)
    if (i.kind == InstructionKind::collective) communicates[i.stream] = true;
  for (const bool high : communicates) {
    Stream stream = nullptr;
    context_.check(set_.api.createStream(stream, high));
    parts_->streams.push_back(stream);
    Event mark = nullptr;
    context_.check(set_.api.createEvent(mark, false));
    parts_->marks.push_back(mark);
  }
  parts_->events.resize(program_.events, nullptr);
}

void DeviceRank::setUp() {
  context_.check(set_.api.useDevice(context_.device));
  parts_ = std::make_unique<Parts>(context_);
  makeStreams();
  std::vector<RankCommunicator*> moving;  // whose collectives have buffers
  std::vector<bool> moves(program_.groups.size(), false);
  for (const core::Collective& c : program_.collectives)
    if (c.input != kNone) moves[c.group] = true;
  for (std::size_t g = 0; g < communicators_.size(); ++g) {
    if (communicators_[g] == nullptr) continue;
    communicators_[g]->join(context_, set_.communicators.idOf(*communicators_[g]),
                            std::chrono::milliseconds(set_.options.timeout));
    if (moves[g]) moving.push_back(communicators_[g]);
  }
  parts_->memory =
      std::make_unique<RankMemory>(context_, program_, set_.options, parts_->streams, std::move(moving));
  for (const Instruction& instruction : program_.setup) {
    ++executed_;
    if (instruction.kind == InstructionKind::allocate) parts_->memory->allocate(instruction.operand, 0, 0);
    if (instruction.kind == InstructionKind::release) parts_->memory->release(instruction.operand, 0, 0);
  }
  parts_->operations = std::make_unique<Operations>(context_, program_, set_.facts, parts_->streams);
  ownMemory_ = parts_->operations->bytes();
  parts_->memory->setBeside(ownMemory_);
  parts_->data = std::make_unique<DataKernels>(context_, set_.plan, set_.options.seed);
  for (Index unit = 0; unit < program_.units.size(); ++unit) {
    const Index parameters = program_.units[unit].parameters;
    if (parameters == kNone || !parts_->memory->live(parameters)) continue;
    parts_->data->fillParameters(unit, parts_->memory->at(parameters),
                                 parts_->streams[program_.buffers[parameters].stream]);
  }
  parts_->timer = std::make_unique<SliceTimer>(context_, parts_->streams.size());
  drain();
}

void DeviceRank::playSteps(int steps) {
  constexpr Index kLookEvery = 256;  // instructions; so that the timer's events are used again
  parts_->timer->synchronizeClocks(parts_->streams[0]);
  {
    const std::lock_guard lock(timerMutex_);
    timer_ = parts_->timer.get();
  }
  for (step_ = 0; step_ < steps; ++step_) {
    gradients_.clear();
    const core::Picoseconds now = set_.control.now();
    log_.stepBegin.push_back(now);
    parts_->memory->beginStep(now);
    for (Index i = 0; i < program_.step.size(); ++i) {
      const Instruction& instruction = program_.step[i];
      if (instruction.firstStepOnly && step_ > 0) continue;
      ++executed_;
      at_.store(static_cast<std::uint64_t>(step_) << 32U | i, std::memory_order_relaxed);
      issue(instruction, i);
      set_.control.progressed();
      if (i % kLookEvery == 0) {
        context_.checkStopped();
        poll();
      }
    }
  }
  at_.store(kDraining, std::memory_order_relaxed);
  drain();
  parts_->timer->synchronizeClocks(parts_->streams[0]);
}

void DeviceRank::drain() {
  for (std::size_t s = 0; s < parts_->streams.size(); ++s) {
    context_.check(set_.api.record(parts_->marks[s], parts_->streams[s]));
    waitFor(parts_->marks[s]);
  }
  if (parts_->timer) parts_->timer->harvest();
}

void DeviceRank::waitFor(Event event) {
  // A sleep ends some 50 us late: none before that is a small part of the wait. Where cores are few, who
  // spins keeps others from what it waits for.
  constexpr unsigned int kManyCores = 8;
  static const bool many = std::thread::hardware_concurrency() >= kManyCores;
  const std::chrono::microseconds spinning(many ? 2000 : 200);
  constexpr std::chrono::microseconds kPause{50};
  const auto since = std::chrono::steady_clock::now();
  while (true) {
    bool done = false;
    context_.check(set_.api.query(event, done));
    if (done) return;
    context_.checkStopped();
    if (std::chrono::steady_clock::now() - since < spinning) {
      std::this_thread::yield();
      continue;
    }
    poll();
    std::this_thread::sleep_for(kPause);
  }
}

void DeviceRank::poll() {
  const std::lock_guard lock(timerMutex_);
  if (timer_ != nullptr && timer_->harvest()) set_.control.progressed();
}

void DeviceRank::collect() {
  log_.slices = parts_->timer->take();
  serializeCommunicators();
  parts_->memory->finish(log_);
  const core::Picoseconds origin = set_.start.origin();
  for (core::Picoseconds& time : log_.stepBegin) time -= origin;
  log_.stepEnd = log_.stepBegin;
  for (core::Slice& slice : log_.slices) {
    slice.issued -= origin;
    slice.begin -= origin;
    slice.end -= origin;
    log_.stepEnd[slice.step] = std::max(log_.stepEnd[slice.step], slice.end);
  }
  for (core::MemoryEvent& event : log_.memory)
    if (event.time != 0) event.time -= origin;
  for (core::MemoryPeak* peak : {&log_.peak, &log_.lastStepPeak})
    if (peak->time != 0) peak->time -= origin;
  if (set_.options.keepContents) keepContents();
  tellObserver();
}

/// A communicator runs one collective at a time, whatever streams they are on: the one behind begins when the
/// one before has ended, though its stream came to it earlier; and that has ended by the end of the one
/// behind, though its own stream noted it later.
void DeviceRank::serializeCommunicators() {
  const auto groupOf = [&](const core::Slice& slice) {
    const Instruction& instruction = program_.step[slice.instruction];
    return instruction.kind == InstructionKind::collective ? program_.collectives[instruction.operand].group
                                                           : kNone;
  };
  std::vector<core::Slice*> other(program_.groups.size(), nullptr);  // [group]: the neighbour
  for (auto slice = log_.slices.rbegin(); slice != log_.slices.rend(); ++slice) {
    const Index group = groupOf(*slice);
    if (group == kNone) continue;
    if (other[group] != nullptr) slice->end = std::min(slice->end, other[group]->end);
    other[group] = &*slice;
  }
  std::ranges::fill(other, nullptr);
  for (core::Slice& slice : log_.slices) {
    const Index group = groupOf(slice);
    if (group == kNone) continue;
    if (other[group] != nullptr) slice.begin = std::min(std::max(slice.begin, other[group]->end), slice.end);
    other[group] = &slice;
  }
}

void DeviceRank::keepContents() {
  for (Index b = 0; b < program_.buffers.size(); ++b) {
    const core::Buffer& buffer = program_.buffers[b];
    if (!parts_->memory->live(b)) continue;
    // Bytes without a type of their own are optimizer states.
    const core::DType type = isFloating(buffer.dtype) ? buffer.dtype : core::DType::fp32;
    std::vector<std::byte> bytes(static_cast<std::size_t>(buffer.elements * core::bytesOf(buffer.dtype)));
    if (!bytes.empty())
      context_.check(
          set_.api.copyToHost(bytes.data(), parts_->memory->at(b), bytes.size(), parts_->streams[0]));
    context_.check(set_.api.synchronize(parts_->streams[0]));
    contents_[b].resize(bytes.size() / static_cast<std::size_t>(core::bytesOf(type)));
    loadElements(type, bytes.data(), contents_[b]);
  }
}

void DeviceRank::tellObserver() {
  if (!set_.options.observer) return;
  for (const Observed& seen : observed_) {
    Observation observation{
        .rank = context_.rank, .step = seen.step, .instruction = seen.instruction, .data = {}};
    observation.data.resize(program_.buffers.size());
    std::vector<std::vector<float>> values(seen.buffers.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Copied& copied = seen.buffers[i];
      values[i].resize(static_cast<std::size_t>(program_.buffers[copied.buffer].elements));
      loadElements(program_.buffers[copied.buffer].dtype, copied.bytes.data(), values[i]);
      observation.data[copied.buffer] = values[i];
    }
    set_.options.observer(observation);
  }
}

/// True when the device has nothing more to do for this rank; after an error of the device's there is nothing
/// to wait for.
bool DeviceRank::quiet() {
  constexpr std::chrono::seconds kPatience{3};
  const auto since = std::chrono::steady_clock::now();
  for (std::size_t s = 0; s < parts_->marks.size(); ++s) {
    if (!set_.api.record(parts_->marks[s], parts_->streams[s]).ok()) continue;
    for (bool done = false; !done;) {
      if (!set_.api.query(parts_->marks[s], done).ok()) break;
      if (!done && std::chrono::steady_clock::now() - since > kPatience) return false;
      if (!done) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  return true;
}

void DeviceRank::cleanUp(bool failed) {
  if (failed) {
    constexpr std::chrono::seconds kPatience{10};  // the watchdog aborts the communicators within moments
    const auto since = std::chrono::steady_clock::now();
    while (!mayCleanUp_.load(std::memory_order_acquire) &&
           std::chrono::steady_clock::now() - since < kPatience)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (RankCommunicator* communicator : communicators_)  // joined since
      if (communicator != nullptr) communicator->abort();
  }
  {
    const std::lock_guard lock(timerMutex_);
    timer_ = nullptr;
  }
  if (!parts_) return;
  if (failed && !quiet()) parts_->abandon();
  parts_.reset();
}

}  // namespace vsim::gpu::device
