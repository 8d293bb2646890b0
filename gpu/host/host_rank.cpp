#include "gpu/host/host_rank.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "gpu/synthetic.h"

namespace vsim::gpu {

using core::Index;
using core::Instruction;
using core::InstructionKind;
using core::kNone;
using core::Picoseconds;
using core::StreamId;

namespace {

/// A step and an instruction of it in one number.
constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
std::uint64_t placeOf(int step, Index instruction) {
  return static_cast<std::uint64_t>(step) << 32U | instruction;
}

/// Says for as long as it lives what a stream is at.
class Running {
 public:
  Running(std::atomic<std::uint64_t>& place, int step, Index instruction) : place_(place) {
    place_.store(placeOf(step, instruction), std::memory_order_relaxed);
  }
  ~Running() { place_.store(kNowhere, std::memory_order_relaxed); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  std::atomic<std::uint64_t>& place_;
};

}  // namespace

HostRank::HostRank(const DataPlan& plan, const HostExecutorOptions& options, int rank,
                   std::vector<Communicator*> communicators, Communicator& all, RunControl& control)
    : plan_(plan),
      program_(plan.program()),
      options_(options),
      rank_(rank),
      communicators_(std::move(communicators)),
      all_(all),
      control_(control),
      memory_(program_, options.leftover, options.memoryLimit / options.ranks),
      fresh_(program_.buffers.size(), false),
      events_(program_.events),
      turns_(program_.groups.size(), 0),
      scratch_(program_.groups.size()),
      running_(program_.streams.size()) {
  log_.name = "rank " + std::to_string(rank);
  log_.firstRank = rank;
  for (std::size_t s = 0; s < program_.streams.size(); ++s) {
    const std::uint64_t seed = mix(mix(options.seed + static_cast<std::uint64_t>(rank)) + s);
    delays_.emplace_back(static_cast<std::uint32_t>(seed));
    running_[s] = kNowhere;
    streams_.push_back(std::make_unique<HostStream>(control));
  }
}

void HostRank::run(int steps) {
  steps_ = steps;
  if (!setUp() || !awaitOthers()) return;
  for (step_ = 0; step_ < steps; ++step_) {
    gradients_.clear();
    const Picoseconds now = control_.now();
    log_.stepBegin.push_back(now);
    memory_.beginStep(now);
    for (Index i = 0; i < program_.step.size(); ++i) {
      const Instruction& instruction = program_.step[i];
      if (instruction.firstStepOnly && step_ > 0) continue;
      ++executed_;
      issuing_.store(i, std::memory_order_relaxed);
      if (control_.stopped() || !issue(instruction, i)) return;
      control_.progressed();
    }
  }
  for (const auto& stream : streams_)
    if (!stream->waitUntil(stream->issued())) return;
}

bool HostRank::setUp() {
  for (const Instruction& instruction : program_.setup) {
    ++executed_;
    if (instruction.kind == InstructionKind::allocate && !allocate(instruction.operand, 0)) return false;
    if (instruction.kind == InstructionKind::release && !release(instruction.operand, 0)) return false;
  }
  for (Index unit = 0; unit < program_.units.size(); ++unit) {
    const Index parameters = program_.units[unit].parameters;
    if (parameters != kNone && memory_.block(parameters) != nullptr)
      fillParameters(plan_, options_.seed, unit, rank_, *memory_.block(parameters));
  }
  if (options_.moveTimedData) makeScratch();
  if (options_.computeScale > 0) makeCompute();
  return true;
}

void HostRank::makeCompute() {
  compute_.reserve(streams_.size());
  for (std::size_t s = 0; s < streams_.size(); ++s) compute_.emplace_back(options_.computeScale);
  for (const Instruction& instruction : program_.step) {
    if (instruction.kind != InstructionKind::kernel) continue;
    const core::Kernel& kernel = program_.kernels[instruction.operand];
    if (kernel.role == core::KernelRole::compute && kernel.operation != kNone)
      compute_[instruction.stream].prepare(program_.operations[kernel.operation]);
  }
}

void HostRank::makeScratch() {
  for (const core::Collective& c : program_.collectives) {
    if (c.input != kNone) continue;
    const TimedRounds rounds = timedRounds(c, communicators_[c.group]->size());
    TimedScratch& scratch = scratch_[c.group];
    scratch.sent.resize(std::max(scratch.sent.size(), rounds.sent), 0.0F);
    scratch.received.resize(std::max(scratch.received.size(), rounds.received), 0.0F);
  }
}

/// The steps begin when all ranks have set up; that is zero on every clock.
bool HostRank::awaitOthers() {
  const std::size_t member = all_.indexOf(rank_);
  const CollectiveCall call{.name = "start of the steps"};
  core::Slice times;
  if (!all_.run(member, 0, call, times)) return false;
  if (keepsClock_) control_.restartClock();
  return all_.run(member, 1, call, times);  // nobody goes on before the clock stands at zero
}

bool HostRank::issue(const Instruction& instruction, Index index) {
  const StreamId stream = instruction.stream;
  switch (instruction.kind) {
    case InstructionKind::allocate:
      return allocate(instruction.operand, control_.now());
    case InstructionKind::release:
      return release(instruction.operand, control_.now());
    case InstructionKind::kernel:
      return launch(instruction, index);
    case InstructionKind::collective:
      return communicate(instruction, index);
    case InstructionKind::recordEvent:
      events_[instruction.operand] = {stream, streams_[stream]->issued()};
      return true;
    case InstructionKind::waitEvent:
      wait(stream, events_[instruction.operand]);
      return true;
    case InstructionKind::waitStream: {
      const auto other = static_cast<StreamId>(instruction.operand);
      wait(stream, {other, streams_[other]->issued()});
      return true;
    }
    case InstructionKind::hostWait: {
      const Mark mark = events_[instruction.operand];
      return streams_[mark.stream]->waitUntil(mark.position);
    }
    case InstructionKind::recordStream:
      recorded_.emplace_back(instruction.operand, stream);
      return true;
    case InstructionKind::hook:
      hook(instruction, index);
      return true;
  }
  return true;
}

void HostRank::wait(StreamId stream, Mark mark) {
  HostStream* const other = streams_[mark.stream].get();
  if (mark.stream == stream || other->reached(mark.position)) return;  // in order anyway, or done
  streams_[stream]->push([other, mark] { other->waitUntil(mark.position); });
}

void HostRank::spoil(StreamId stream, std::vector<HostBlock*> blocks) {
  if (blocks.empty()) return;
  streams_[stream]->push([blocks = std::move(blocks)] {
    for (HostBlock* block : blocks) block->spoil();
  });
}

bool HostRank::allocate(Index buffer, Picoseconds time) {
  const StreamId pool = program_.buffers[buffer].stream;
  if (memory_.block(buffer) == nullptr && !memory_.fits(buffer)) {
    // What was released may serve once the stream has come to this point: as an allocator that runs out waits
    // for the device.
    spoil(pool, memory_.takeReleased(buffer));
    if (!streams_[pool]->waitUntil(streams_[pool]->issued())) return false;
  }
  auto request = memory_.allocate(buffer, time);
  if (!request) return failed(request.error());
  spoil(pool, std::move(request->spoil));
  fresh_[buffer] = true;
  const auto address = reinterpret_cast<std::uint64_t>(request->block->data().data());
  log_.memory.push_back({time, buffer, static_cast<std::uint8_t>(step_), true, address, memory_.allocated(),
                         memory_.allocated(), memory_.allocated()});
  return true;
}

bool HostRank::release(Index buffer, Picoseconds time) {
  HostBlock* const block = memory_.block(buffer);
  if (const auto done = memory_.release(buffer); !done) return failed(done.error());
  // Memory recorded on other streams is kept until they have passed this point. Here the pool's stream waits
  // for them: stricter than an allocator, which hands out other memory meanwhile.
  for (const auto& [recorded, stream] : recorded_)
    if (recorded == buffer) wait(program_.buffers[buffer].stream, {stream, streams_[stream]->issued()});
  std::erase_if(recorded_, [&](const auto& entry) { return entry.first == buffer; });
  const auto address = reinterpret_cast<std::uint64_t>(block->data().data());
  log_.memory.push_back({time, buffer, static_cast<std::uint8_t>(step_), false, address, memory_.allocated(),
                         memory_.allocated(), memory_.allocated()});
  return true;
}

core::Slice& HostRank::slice(const Instruction& instruction, Index index) {
  slices_.push_back({.instruction = index,
                     .stream = instruction.stream,
                     .step = static_cast<std::uint8_t>(step_),
                     .provenance = core::Provenance::measured,
                     .issued = control_.now()});
  return slices_.back();
}

bool HostRank::resolve(const std::vector<Index>& buffers, std::vector<HostBlock*>& blocks) {
  for (const Index buffer : buffers) {
    if (memory_.block(buffer) == nullptr)
      return failed(
          {.message = "buffer '" + program_.buffers[buffer].name + "' is used while it is not live"});
    blocks.push_back(memory_.block(buffer));
  }
  return true;
}

bool HostRank::launch(const Instruction& instruction, Index index) {
  const core::Kernel& kernel = program_.kernels[instruction.operand];
  KernelLaunch launch;
  launch.kernel = &kernel;
  launch.rank = rank_;
  launch.step = step_;
  if (!resolve(kernel.reads, launch.reads) || !resolve(kernel.writes, launch.writes)) return false;
  if (!kernel.writes.empty()) launch.fresh = fresh_[kernel.writes.front()];
  for (const Index buffer : kernel.writes) fresh_[buffer] = false;
  if (kernel.role == core::KernelRole::gradient) launch.microBatch = microBatch(kernel);
  if (kernel.operation == kNone && !options_.runUntimedKernels) return true;
  core::Slice* const logged = kernel.operation == kNone ? nullptr : &slice(instruction, index);
  const bool computes = kernel.role == core::KernelRole::compute && logged != nullptr && !compute_.empty();
  streams_[instruction.stream]->push([this, computes, launch = std::move(launch), logged, index,
                                      observation = observation(index), stream = instruction.stream] {
    const Running running(running_[stream], launch.step, index);
    delay(stream);
    if (logged != nullptr) logged->begin = control_.now();
    if (computes) compute_[stream].run(program_.operations[launch.kernel->operation]);
    runKernel(plan_, options_.seed, launch);
    if (logged != nullptr) logged->end = control_.now();
    if (options_.observer) options_.observer(observation);
  });
  return true;
}

int HostRank::microBatch(const core::Kernel& kernel) {
  return gradients_[{kernel.unit, kernel.firstTensor}]++;
}

std::span<float> HostRank::slot(Index buffer, std::int64_t first, std::int64_t count) {
  const std::span<float> all = memory_.block(buffer)->data();
  VSIM_CHECK(first >= 0 && count >= 0 && static_cast<std::size_t>(first + count) <= all.size(),
             "a collective leaves its buffer");
  return all.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

bool HostRank::communicate(const Instruction& instruction, Index index) {
  const core::Collective& c = program_.collectives[instruction.operand];
  const std::string unit = c.unit == kNone ? "" : "(" + program_.units[c.unit].name + ")";
  CollectiveCall call{.kind = c.kind,
                      .reduce = c.reduce,
                      .dtype = c.dtype,
                      .sendElements = c.sendElements,
                      .receiveElements = c.receiveElements,
                      .step = step_,
                      .instruction = index,
                      .name = std::string(core::kCollectiveNames[static_cast<std::size_t>(c.kind)]) + unit};
  Communicator* const communicator = communicators_[c.group];
  const std::size_t member = communicator->indexOf(rank_);
  std::uint64_t rounds = 1;
  if (c.input == kNone) {
    if (options_.moveTimedData) rounds = giveScratch(c, call);
  } else if (!giveBuffers(c, member, call)) {
    return false;
  }
  const std::uint64_t turn = turns_[c.group];
  turns_[c.group] += rounds;
  streams_[instruction.stream]->push([this, call = std::move(call), communicator, member, turn, rounds,
                                      logged = &slice(instruction, index), observation = observation(index),
                                      stream = instruction.stream] {
    const Running running(running_[stream], call.step, call.instruction);
    delay(stream);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      core::Slice times;
      if (!communicator->run(member, turn + round, call, times)) return;
      if (round == 0) logged->begin = times.begin;
      logged->end = times.end;
    }
    if (options_.observer) options_.observer(observation);
  });
  return true;
}

bool HostRank::giveBuffers(const core::Collective& c, std::size_t member, CollectiveCall& call) {
  std::vector<HostBlock*> blocks;
  if (!resolve({c.input, c.output}, blocks)) return false;
  const bool same = c.input == c.output;
  const auto place = static_cast<std::int64_t>(member);
  std::int64_t from = 0, to = 0;
  if (c.kind == core::CollectiveKind::allGather && same) from = place * c.sendElements;
  if (c.kind == core::CollectiveKind::reduceScatter && same) to = place * c.receiveElements;
  if (c.kind == core::CollectiveKind::allReduce) {  // of the shard, wherever it lies
    from = plan_.ownSlice(c.input, c.unit, rank_);
    to = plan_.ownSlice(c.output, c.unit, rank_);
  }
  call.input = slot(c.input, from, c.sendElements);
  call.output = slot(c.output, to, c.receiveElements);
  fresh_[c.output] = false;
  return true;
}

std::uint64_t HostRank::giveScratch(const core::Collective& c, CollectiveCall& call) {
  const TimedRounds rounds = timedRounds(c, communicators_[c.group]->size());
  TimedScratch& scratch = scratch_[c.group];
  call.input = std::span<const float>(scratch.sent).first(rounds.sent);
  call.output = std::span(scratch.received).first(rounds.received);
  return rounds.rounds;
}

void HostRank::hook(const Instruction& instruction, Index index) {
  if (!options_.observer) return;
  streams_[instruction.stream]->push(
      [this, observation = observation(index)] { options_.observer(observation); });
}

HostObservation HostRank::observation(Index index) const {
  HostObservation result{.rank = rank_, .step = step_, .instruction = index, .data = {}};
  if (!options_.observer) return result;
  result.data.resize(program_.buffers.size());
  for (std::size_t b = 0; b < result.data.size(); ++b)
    if (HostBlock* const block = memory_.live()[b]; block != nullptr) result.data[b] = block->data();
  return result;
}

void HostRank::delay(StreamId stream) {
  if (options_.maxDelay <= 0) return;
  std::uniform_int_distribution<int> microseconds(0, options_.maxDelay - 1);
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds(delays_[stream])));
}

bool HostRank::failed(core::Error error) {
  const std::string where = fmt::format("step {}: {}", step_.load(), error.message);
  error.message = options_.namesRank ? fmt::format("rank {}, {}", control_.rankName(rank_), where) : where;
  control_.fail(std::move(error));
  return false;
}

std::string HostRank::nameOf(Index index) const {
  const Instruction& instruction = program_.step[index];
  std::string what;
  if (instruction.kind == InstructionKind::kernel) {
    const core::Kernel& kernel = program_.kernels[instruction.operand];
    what = kernel.operation == kNone ? std::string(core::kRoleNames[static_cast<std::size_t>(kernel.role)])
                                     : program_.operations[kernel.operation].name;
    if (kernel.unit != kNone) what += "(" + program_.units[kernel.unit].name + ")";
  } else if (instruction.kind == InstructionKind::collective) {
    const core::Collective& c = program_.collectives[instruction.operand];
    what = core::kCollectiveNames[static_cast<std::size_t>(c.kind)];
    if (c.unit != kNone) what += "(" + program_.units[c.unit].name + ")";
    what += " of group " + program_.groups[c.group].name;
  }
  return fmt::format("instruction {}{}{}", index, what.empty() ? "" : ", ", what);
}

std::string HostRank::position() const {
  const std::string rank = "rank " + control_.rankName(rank_);
  const Index issuing = issuing_;
  if (issuing == kNone) return rank + " sets up";
  std::vector<std::string> parts;
  for (std::size_t s = 0; s < running_.size(); ++s)
    if (const std::uint64_t place = running_[s]; place != kNowhere)
      parts.push_back(fmt::format("stream {} runs {} of step {}", program_.streams[s],
                                  nameOf(static_cast<Index>(place)), place >> 32U));
  parts.push_back(fmt::format("the host has issued step {} up to {}",
                              std::min(step_.load(), steps_.load() - 1), nameOf(issuing)));
  return fmt::format("{}: {}", rank, fmt::join(parts, ", "));
}

void HostRank::join() {
  for (const auto& stream : streams_) stream->finish();
}

core::RankLog HostRank::takeLog() {
  log_.slices.assign(slices_.begin(), slices_.end());
  log_.stepEnd = log_.stepBegin;
  for (const core::Slice& slice : log_.slices)
    log_.stepEnd[slice.step] = std::max(log_.stepEnd[slice.step], slice.end);
  log_.peak = memory_.peak();
  log_.lastStepPeak = memory_.stepPeak();
  return std::move(log_);
}

std::span<const float> HostRank::contents(Index buffer) const {
  HostBlock* const block = memory_.block(buffer);
  return block == nullptr ? std::span<const float>() : block->data();
}

}  // namespace vsim::gpu
