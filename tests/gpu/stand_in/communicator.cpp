#include "tests/gpu/stand_in/communicator.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "gpu/elements.h"

namespace vsim::test {

using core::CollectiveKind;
using gpu::loadElement;

namespace {

constexpr std::chrono::milliseconds kLook{20};
enum Subject : int { collectives, sends, receipts };

std::size_t bytesOf(std::size_t count, core::DType type) {
  return count * static_cast<std::size_t>(core::bytesOf(type));
}

template <class T>
void append(Message& message, const T& value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  message.insert(message.end(), bytes, bytes + sizeof(T));
}

}  // namespace

StandInCommunicator::StandInCommunicator(int device, int ranks, int rank, std::shared_ptr<Mail> mail,
                                         const std::atomic<bool>& over)
    : device_(device), ranks_(ranks), rank_(rank), mail_(std::move(mail)), over_(over) {}

bool StandInCommunicator::comesUp(std::uint64_t turn) {
  ++running_;
  std::unique_lock lock(mutex_);
  while (finished_.load() != turn && !ends()) changed_.wait_for(lock, kLook);
  return !ends();
}

void StandInCommunicator::finish() {
  {
    const std::lock_guard lock(mutex_);
    ++finished_;
    --running_;
  }
  changed_.notify_all();
}

void StandInCommunicator::waitForAbort() {
  std::unique_lock lock(mutex_);
  while (!ends()) changed_.wait_for(lock, kLook);
}

bool StandInCommunicator::receive(const Route& route, Message& message) {
  while (!ends()) {
    if (auto found = mail_->take(route)) {
      message = std::move(*found);
      return true;
    }
    mail_->pause();
  }
  return false;
}

void StandInCommunicator::abort() {
  aborted_.store(true);
  changed_.notify_all();
  while (running_.load() > 0 && !over_.load()) std::this_thread::sleep_for(std::chrono::microseconds(200));
}

void StandInCommunicator::setError(const gpu::device::Status& error) {
  const std::lock_guard lock(mutex_);
  error_ = error;
}

gpu::device::Status StandInCommunicator::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

void StandInCommunicator::stall(std::uint64_t turn) {
  comesUp(turn);
  waitForAbort();
  finish();
}

Message StandInCommunicator::header(const CollectiveWork& work) const {
  Message message;
  append(message, work.kind);
  append(message, work.reduce);
  append(message, work.dtype);
  append(message, static_cast<std::uint64_t>(work.count));
  append(message, work.root);
  return message;
}

/// What a peer needs of this member, behind the header.
Message StandInCommunicator::outgoing(const CollectiveWork& work, int peer) const {
  Message message = header(work);
  const std::size_t bytes = bytesOf(work.count, work.dtype);
  const auto* from = static_cast<const std::byte*>(work.send);
  if (work.kind == CollectiveKind::reduceScatter) from += static_cast<std::size_t>(peer) * bytes;
  if (work.kind != CollectiveKind::broadcast || rank_ == work.root)
    message.insert(message.end(), from, from + bytes);
  return message;
}

void StandInCommunicator::combine(const CollectiveWork& work, const std::vector<Message>& inputs) const {
  const std::size_t bytes = bytesOf(work.count, work.dtype), skip = header(work).size();
  auto* const to = static_cast<std::byte*>(work.receive);
  if (work.kind == CollectiveKind::allGather) {
    for (std::size_t m = 0; m < inputs.size(); ++m)
      std::memcpy(to + m * bytes, inputs[m].data() + skip, bytes);
  } else if (work.kind == CollectiveKind::broadcast) {
    std::memcpy(to, inputs[static_cast<std::size_t>(work.root)].data() + skip, bytes);
  } else {
    for (std::size_t i = 0; i < work.count; ++i) {
      const auto element = static_cast<std::int64_t>(i);
      float sum = loadElement(work.dtype, inputs[0].data() + skip, element);
      for (std::size_t m = 1; m < inputs.size(); ++m)
        sum += loadElement(work.dtype, inputs[m].data() + skip, element);
      if (work.reduce == core::ReduceOp::average) sum /= static_cast<float>(inputs.size());
      gpu::storeElement(work.dtype, to, element, sum);
    }
  }
}

void StandInCommunicator::run(std::uint64_t turn, const CollectiveWork& work, StandInDevice& memory) {
  const std::size_t bytes = bytesOf(work.count, work.dtype), all = bytes * static_cast<std::size_t>(ranks_);
  const auto width = static_cast<std::size_t>(core::bytesOf(work.dtype));
  const bool good =
      comesUp(turn) &&
      memory.touches(work.send, work.kind == CollectiveKind::reduceScatter ? all : bytes, width,
                     "collective") &&
      memory.touches(work.receive, work.kind == CollectiveKind::allGather ? all : bytes, width, "collective");
  if (!good) return finish();
  std::vector<Message> inputs(static_cast<std::size_t>(ranks_));
  for (int peer = 0; peer < ranks_; ++peer) {
    Message message = outgoing(work, peer);
    if (peer == rank_)
      inputs[static_cast<std::size_t>(peer)] = std::move(message);
    else
      mail_->put({rank_, peer, collectives}, std::move(message));
  }
  const Message mine = header(work);
  for (int peer = 0; peer < ranks_; ++peer) {
    Message& input = inputs[static_cast<std::size_t>(peer)];
    if (peer != rank_ && !receive({peer, rank_, collectives}, input)) return finish();
    if (!std::equal(mine.begin(), mine.end(), input.begin(),
                    input.begin() + static_cast<std::ptrdiff_t>(std::min(mine.size(), input.size())))) {
      waitForAbort();  // what does not fit never ends
      return finish();
    }
  }
  combine(work, inputs);
  finish();
}

void StandInCommunicator::run(std::uint64_t turn, const std::vector<PeerWork>& works, StandInDevice& memory) {
  bool good = comesUp(turn);
  for (const PeerWork& work : works)
    good = good && memory.touches(work.sends ? work.from : work.to, bytesOf(work.count, work.dtype),
                                  static_cast<std::size_t>(core::bytesOf(work.dtype)), "send or receive");
  for (const PeerWork& work : works) {
    if (!good || !work.sends) continue;
    const auto* const from = static_cast<const std::byte*>(work.from);
    mail_->put({rank_, work.peer, sends}, Message(from, from + bytesOf(work.count, work.dtype)));
  }
  for (const PeerWork& work : works) {
    if (!good || work.sends) continue;
    Message message;
    good = receive({work.peer, rank_, sends}, message);
    if (good && message.size() != bytesOf(work.count, work.dtype)) {
      waitForAbort();
      good = false;
    }
    if (!good) break;
    std::copy(message.begin(), message.end(), static_cast<std::byte*>(work.to));
    mail_->put({rank_, work.peer, receipts}, {});
  }
  // A send ends when it has been received.
  Message receipt;
  for (const PeerWork& work : works)
    if (good && work.sends) good = receive({work.peer, rank_, receipts}, receipt);
  finish();
}

}  // namespace vsim::test
