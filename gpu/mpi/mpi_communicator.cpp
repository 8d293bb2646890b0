#include "gpu/mpi/mpi_communicator.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace vsim::gpu {

using core::CollectiveKind;

namespace {

/// Floats of each other member's input that are taken in at once for a reduction: 1 MiB.
constexpr std::size_t kReducedAtOnce = std::size_t{1} << 18U;

std::size_t bytesOf(std::size_t floats) { return floats * sizeof(float); }

bool overlap(std::span<const float> a, std::span<const float> b) {
  const std::less<const float*> before;
  return !a.empty() && !b.empty() && before(a.data(), b.data() + b.size()) &&
         before(b.data(), a.data() + a.size());
}

void copy(std::span<const float> from, float* to) {
  if (from.data() != to && !from.empty()) std::memmove(to, from.data(), from.size_bytes());
}

}  // namespace

MpiCommunicator::MpiCommunicator(std::string name, std::vector<int> members, RunControl& control,
                                 MPI_Comm communicator, std::size_t own)
    : Communicator(std::move(name), std::move(members), control),
      communicator_(communicator),
      own_(own),
      headers_(size()),
      here_(size(), false) {}

std::vector<std::size_t> MpiCommunicator::others() const {
  std::vector<std::size_t> result;
  for (std::size_t i = 1; i < size(); ++i) result.push_back((own_ + i) % size());
  return result;
}

MpiCommunicator::Header MpiCommunicator::headerOf(std::uint64_t turn, const CollectiveCall& call) {
  Header header;
  header.turn = turn;
  header.sendElements = call.sendElements;
  header.receiveElements = call.receiveElements;
  header.step = call.step;
  header.instruction = call.instruction;
  header.kind = static_cast<std::uint8_t>(call.kind);
  header.reduce = static_cast<std::uint8_t>(call.reduce);
  header.dtype = static_cast<std::uint8_t>(call.dtype);
  header.timed = call.input.empty() ? 1 : 0;
  std::copy_n(call.name.begin(), std::min(call.name.size(), sizeof header.name - 1), header.name);
  return header;
}

CollectiveCall MpiCommunicator::callOf(const Header& header) {
  return {.kind = static_cast<CollectiveKind>(header.kind),
          .reduce = static_cast<core::ReduceOp>(header.reduce),
          .dtype = static_cast<core::DType>(header.dtype),
          .sendElements = header.sendElements,
          .receiveElements = header.receiveElements,
          .step = header.step,
          .instruction = header.instruction,
          .name = header.name};
}

std::optional<std::string> MpiCommunicator::waiting() const {
  const std::lock_guard lock(mutex_);
  if (!ownCall_) return std::nullopt;
  std::vector<std::size_t> missing;
  for (std::size_t m = 0; m < size(); ++m)
    if (m != own_ && !here_[m]) missing.push_back(m);
  if (missing.empty()) return std::nullopt;
  if (!moving_) return absence(missing, {*ownCall_});
  std::vector<std::string> names;
  for (const std::size_t m : missing) names.push_back(control().rankName(members()[m]));
  return fmt::format("in {}, data of rank{} {} did not come to {}", title(), names.size() == 1 ? "" : "s",
                     fmt::join(names, ", "), *ownCall_);
}

bool MpiCommunicator::run(std::size_t member, std::uint64_t turn, const CollectiveCall& call,
                          core::Slice& times) {
  VSIM_CHECK(member == own_, "a process has one member of a communicator");
  {
    std::unique_lock lock(mutex_);
    if (!control().wait(lock, changed_, [&] { return turn_ == turn; })) return false;
    ownCall_ = describe(own_, call);
    here_.assign(size(), false);
    moving_ = false;
  }
  if (!meet(turn, call)) return false;
  times.begin = control().now();
  for (std::size_t m = 0; m < size(); ++m) {
    CollectiveCall theirs = callOf(headers_[m]);
    if (!headers_[m].timed) theirs.input = call.input;
    if (headers_[m].turn == turn && fit(call, theirs) && (headers_[m].timed != 0) == call.input.empty())
      continue;
    mismatch(describe(own_, call), describe(m, theirs));
    return false;
  }
  if (!call.input.empty() && !move(call)) return false;
  const std::lock_guard lock(mutex_);
  times.end = control().now();  // before the next call, from whatever stream, may begin
  ownCall_.reset();
  ++turn_;
  changed_.notify_all();
  return true;
}

bool MpiCommunicator::meet(std::uint64_t turn, const CollectiveCall& call) {
  header_ = headers_[own_] = headerOf(turn, call);
  Exchange exchange(communicator_, control());
  for (const std::size_t m : others()) exchange.receive(static_cast<int>(m), &headers_[m], sizeof(Header));
  for (const std::size_t m : others()) exchange.send(static_cast<int>(m), &header_, sizeof(Header));
  const auto came = [&](int peer) {
    const std::lock_guard lock(mutex_);
    here_[static_cast<std::size_t>(peer)] = true;
  };
  if (!exchange.finish(Patience::Waiting::forOthers, came)) return false;
  const std::lock_guard lock(mutex_);
  here_.assign(size(), false);
  moving_ = true;
  return true;
}

bool MpiCommunicator::finish(Exchange& exchange) {
  return exchange.finish(Patience::Waiting::forData, [&](int peer) {
    const std::lock_guard lock(mutex_);
    here_[static_cast<std::size_t>(peer)] = true;
  });
}

bool MpiCommunicator::move(const CollectiveCall& call) {
  switch (call.kind) {
    case CollectiveKind::allGather:
      return allGather(call);
    case CollectiveKind::reduceScatter:
      return reduceScatter(call);
    case CollectiveKind::allReduce:
      return allReduce(call);
    case CollectiveKind::allToAll:
      return allToAll(call);
    case CollectiveKind::broadcast:
      return broadcast(call);
  }
  return true;
}

bool MpiCommunicator::allGather(const CollectiveCall& call) {
  const std::size_t part = call.output.size() / size();
  Exchange exchange(communicator_, control());
  for (const std::size_t m : others())
    exchange.receive(static_cast<int>(m), call.output.data() + m * part, bytesOf(part));
  for (const std::size_t m : others()) exchange.send(static_cast<int>(m), call.input.data(), bytesOf(part));
  copy(call.input.first(part), call.output.data() + own_ * part);
  return finish(exchange);
}

bool MpiCommunicator::allToAll(const CollectiveCall& call) {
  const std::size_t part = call.output.size() / size();
  const bool direct = !overlap(call.input, call.output);
  if (!direct && scratch_.size() < call.output.size()) scratch_.resize(call.output.size());
  float* const to = direct ? call.output.data() : scratch_.data();
  Exchange exchange(communicator_, control());
  for (const std::size_t m : others()) exchange.receive(static_cast<int>(m), to + m * part, bytesOf(part));
  for (const std::size_t m : others())
    exchange.send(static_cast<int>(m), call.input.data() + m * part, bytesOf(part));
  copy(call.input.subspan(own_ * part, part), to + own_ * part);
  if (!finish(exchange)) return false;
  if (!direct) copy({to, part * size()}, call.output.data());
  return true;
}

bool MpiCommunicator::broadcast(const CollectiveCall& call) {
  Exchange exchange(communicator_, control());
  if (own_ == 0) {
    for (const std::size_t m : others())
      exchange.send(static_cast<int>(m), call.input.data(), bytesOf(call.output.size()));
  } else {
    exchange.receive(0, call.output.data(), bytesOf(call.output.size()));
  }
  if (!finish(exchange)) return false;
  if (own_ == 0) copy(call.input.first(call.output.size()), call.output.data());
  return true;
}

bool MpiCommunicator::reducePart(const CollectiveCall& call, const std::vector<std::size_t>& parts,
                                 std::span<float> output) {
  std::size_t longest = 0;
  for (std::size_t m = 0; m < size(); ++m) longest = std::max(longest, parts[m + 1] - parts[m]);
  const std::size_t piece = std::min(longest, kReducedAtOnce);
  if (scratch_.size() < piece * size()) scratch_.resize(piece * size());
  for (std::size_t at = 0; at < longest; at += piece) {
    // Of each member's part the same stretch, as far as the part goes.
    const auto stretch = [&](std::size_t m) {
      const std::size_t part = parts[m + 1] - parts[m];
      return at < part ? std::min(piece, part - at) : std::size_t{0};
    };
    const std::size_t mine = stretch(own_);
    Exchange exchange(communicator_, control());
    for (const std::size_t m : others())
      exchange.receive(static_cast<int>(m), scratch_.data() + m * piece, bytesOf(mine));
    for (const std::size_t m : others())
      exchange.send(static_cast<int>(m), call.input.data() + parts[m] + at, bytesOf(stretch(m)));
    if (!finish(exchange)) return false;
    std::vector<const float*> inputs;
    for (std::size_t m = 0; m < size(); ++m)
      inputs.push_back(m == own_ ? call.input.data() + parts[own_] + at : scratch_.data() + m * piece);
    if (mine > 0) reduceInOrder(inputs, call.reduce, call.dtype, output.subspan(at, mine));
  }
  return true;
}

bool MpiCommunicator::reduceScatter(const CollectiveCall& call) {
  std::vector<std::size_t> parts;
  for (std::size_t m = 0; m <= size(); ++m) parts.push_back(m * call.output.size());
  return reducePart(call, parts, call.output);
}

/// Each member reduces its part, then all gather the parts: the same sums as if each reduced everything.
bool MpiCommunicator::allReduce(const CollectiveCall& call) {
  const std::size_t total = call.output.size(), n = size();
  std::vector<std::size_t> parts;
  for (std::size_t m = 0; m <= n; ++m) parts.push_back(total / n * m + std::min(m, total % n));
  const auto partOf = [&](std::size_t m) { return call.output.subspan(parts[m], parts[m + 1] - parts[m]); };
  if (!reducePart(call, parts, partOf(own_))) return false;
  Exchange exchange(communicator_, control());
  for (const std::size_t m : others())
    exchange.receive(static_cast<int>(m), partOf(m).data(), partOf(m).size_bytes());
  for (const std::size_t m : others())
    exchange.send(static_cast<int>(m), partOf(own_).data(), partOf(own_).size_bytes());
  return finish(exchange);
}

}  // namespace vsim::gpu
