#include "gpu/host/thread_communicator.h"

#include <algorithm>

namespace vsim::gpu {

using core::CollectiveKind;

ThreadCommunicator::ThreadCommunicator(std::string name, std::vector<int> members, RunControl& control)
    : Communicator(std::move(name), std::move(members), control),
      calls_(size()),
      turns_(size(), 0),
      outputs_(size()) {}

std::optional<std::string> ThreadCommunicator::waiting() const {
  const std::lock_guard lock(mutex_);
  if (arrived_ == 0) return std::nullopt;
  std::vector<std::string> here;
  std::vector<std::size_t> missing;
  for (std::size_t m = 0; m < size(); ++m) {
    if (!calls_[m]) {
      missing.push_back(m);
    } else {
      here.push_back(describe(m, *calls_[m]));
    }
  }
  if (missing.empty()) return std::nullopt;
  return absence(missing, here);
}

bool ThreadCommunicator::meet(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t meeting = meetings_;
  if (++arrived_ == size()) {
    arrived_ = 0;
    ++meetings_;
    changed_.notify_all();
    return true;
  }
  return control().wait(lock, changed_, [&] { return meetings_ != meeting; });
}

bool ThreadCommunicator::run(std::size_t member, std::uint64_t turn, const CollectiveCall& call,
                             core::Slice& times) {
  std::unique_lock lock(mutex_);
  if (!control().wait(lock, changed_, [&] { return turns_[member] == turn; })) return false;
  calls_[member] = call;
  if (!meet(lock)) return false;
  times.begin = control().now();
  if (!fit(call, *calls_.front())) {
    mismatch(describe(member, call), describe(0, *calls_.front()));
    return false;
  }
  lock.unlock();
  makeOutput(member, call);
  lock.lock();
  // Inputs may be overwritten once all have read them.
  if (!meet(lock)) return false;
  lock.unlock();
  if (!call.input.empty()) std::copy_n(outputs_[member].begin(), call.output.size(), call.output.begin());
  lock.lock();
  times.end = control().now();  // before the member's next call, from whatever stream, may begin
  calls_[member].reset();
  ++turns_[member];
  changed_.notify_all();
  return true;
}

void ThreadCommunicator::makeOutput(std::size_t member, const CollectiveCall& call) {
  if (call.input.empty()) return;
  const std::size_t n = size(), received = call.output.size();
  std::vector<float>& kept = outputs_[member];
  if (kept.size() < received) kept.resize(received);
  const std::span<float> out = std::span(kept).first(received);
  const std::size_t chunk = received / n;
  switch (call.kind) {
    case CollectiveKind::allGather:
      for (std::size_t m = 0; m < n; ++m)
        std::ranges::copy(calls_[m]->input, out.subspan(m * chunk, chunk).begin());
      break;
    case CollectiveKind::reduceScatter:
      reduce(call, member * received, out);
      break;
    case CollectiveKind::allReduce:
      reduce(call, 0, out);
      break;
    case CollectiveKind::allToAll:
      for (std::size_t m = 0; m < n; ++m)
        std::ranges::copy(calls_[m]->input.subspan(member * chunk, chunk),
                          out.subspan(m * chunk, chunk).begin());
      break;
    case CollectiveKind::broadcast:
      std::ranges::copy(calls_.front()->input.first(received), out.begin());
      break;
  }
}

void ThreadCommunicator::reduce(const CollectiveCall& call, std::size_t first, std::span<float> out) const {
  std::vector<const float*> inputs;
  for (const auto& one : calls_) inputs.push_back(one->input.data() + first);
  reduceInOrder(inputs, call.reduce, call.dtype, out);
}

}  // namespace vsim::gpu
