#include "gpu/host/communicator.h"

#include <algorithm>

#include "gpu/rounding.h"

namespace vsim::gpu {

using core::CollectiveKind;

Communicator::Communicator(std::string name, std::vector<int> members, RunControl& control)
    : name_(std::move(name)),
      members_(std::move(members)),
      control_(control),
      calls_(members_.size()),
      turns_(members_.size(), 0) {}

std::size_t Communicator::indexOf(int rank) const {
  return static_cast<std::size_t>(std::find(members_.begin(), members_.end(), rank) - members_.begin());
}

std::string Communicator::describe(std::size_t member, const CollectiveCall& call) const {
  return fmt::format("rank {}: {} of {} {} elements out, {} in (instruction {}, step {})", members_[member],
                     call.name, call.sendElements, core::name(call.dtype), call.receiveElements,
                     call.instruction, call.step);
}

std::optional<std::string> Communicator::waiting() const {
  const std::lock_guard lock(mutex_);
  if (arrived_ == 0) return std::nullopt;
  std::vector<std::string> here;
  std::vector<int> missing;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (!calls_[m]) {
      missing.push_back(members_[m]);
    } else {
      here.push_back(describe(m, *calls_[m]));
    }
  }
  if (missing.empty()) return std::nullopt;
  return fmt::format("in group {} of ranks {}, rank{} {} did not come to {}", name_,
                     fmt::join(members_, ", "), missing.size() == 1 ? "" : "s", fmt::join(missing, ", "),
                     fmt::join(here, "; "));
}

bool Communicator::meet(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t meeting = meetings_;
  if (++arrived_ == members_.size()) {
    arrived_ = 0;
    ++meetings_;
    changed_.notify_all();
    return true;
  }
  return control_.wait(lock, changed_, [&] { return meetings_ != meeting; });
}

bool Communicator::run(std::size_t member, std::uint64_t turn, const CollectiveCall& call,
                       core::Slice& times) {
  std::unique_lock lock(mutex_);
  if (!control_.wait(lock, changed_, [&] { return turns_[member] == turn; })) return false;
  calls_[member] = call;
  if (!meet(lock)) return false;
  times.begin = control_.now();
  const CollectiveCall& first = *calls_.front();
  if (call.kind != first.kind || call.reduce != first.reduce || call.dtype != first.dtype ||
      call.sendElements != first.sendElements || call.receiveElements != first.receiveElements ||
      call.input.empty() != first.input.empty()) {
    mismatch(member, call);
    return false;
  }
  lock.unlock();
  const std::vector<float> output = result(member, call);
  lock.lock();
  // Inputs may be overwritten once all have read them.
  if (!meet(lock)) return false;
  std::copy(output.begin(), output.end(), call.output.begin());
  times.end = control_.now();  // before the member's next call, from whatever stream, may begin
  calls_[member].reset();
  ++turns_[member];
  changed_.notify_all();
  return true;
}

void Communicator::mismatch(std::size_t member, const CollectiveCall& call) const {
  control_.fail({.message = fmt::format("mismatched collective in group {} of ranks {}: {}, but {}", name_,
                                        fmt::join(members_, ", "), describe(member, call),
                                        describe(0, *calls_.front())),
                 .hint = "all ranks of a group must issue the same collectives in the same order"});
}

std::vector<float> Communicator::result(std::size_t member, const CollectiveCall& call) const {
  std::vector<float> out;
  if (call.input.empty()) return out;
  const std::size_t n = members_.size(), received = call.output.size();
  out.resize(received);
  const auto reduced = [&](std::size_t i) {
    float sum = calls_.front()->input[i];
    for (std::size_t m = 1; m < n; ++m) sum += calls_[m]->input[i];
    if (call.reduce == core::ReduceOp::average) sum /= static_cast<float>(n);
    return roundTo(call.dtype, sum);
  };
  switch (call.kind) {
    case CollectiveKind::allGather:
      for (std::size_t m = 0; m < n; ++m)
        std::ranges::copy(calls_[m]->input, out.begin() + static_cast<std::ptrdiff_t>(m * received / n));
      break;
    case CollectiveKind::reduceScatter:
      for (std::size_t i = 0; i < received; ++i) out[i] = reduced(member * received + i);
      break;
    case CollectiveKind::allReduce:
      for (std::size_t i = 0; i < received; ++i) out[i] = reduced(i);
      break;
    case CollectiveKind::allToAll:
      for (std::size_t i = 0; i < received; ++i) {
        const std::size_t chunk = received / n;
        out[i] = calls_[i / chunk]->input[member * chunk + i % chunk];
      }
      break;
    case CollectiveKind::broadcast:
      std::ranges::copy(calls_.front()->input.first(received), out.begin());
      break;
  }
  return out;
}

}  // namespace vsim::gpu
