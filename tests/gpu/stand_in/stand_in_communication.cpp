// Communicators of the stand-in, as NCCL has them.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "tests/gpu/stand_in/stand_in.h"

namespace vsim::test {

using core::CollectiveKind;
using gpu::device::Status;

int standInCurrentDevice();

namespace {

constexpr int kInvalidUsage = 10'005, kRemoteError = 10'006;

}  // namespace

/// What a thread has issued since groupStart.
struct StandIn::ThreadGroup {
  int depth = 0;
  std::vector<Grouped> calls;
};

StandIn::ThreadGroup& StandIn::threadGroup() {
  static thread_local ThreadGroup group;
  return group;
}

std::shared_ptr<StandInCommunicator> StandIn::communicatorOf(Comm comm) const {
  const std::lock_guard lock(mutex_);
  const auto found = communicators_.find(comm);
  return found == communicators_.end() ? nullptr : found->second;
}

Status StandIn::uniqueId(gpu::device::UniqueId& out) {
  static std::atomic<int> made = 0;
  const std::string name = fmt::format("{}-{}-{:x}", ::getpid(), made++, std::random_device{}());
  out.clear();
  for (const char c : name) out.push_back(static_cast<std::byte>(c));
  return enter("uniqueId", -1);
}

Status StandIn::join(Comm& out, int ranks, const gpu::device::UniqueId& id, int rank) {
  const int number = standInCurrentDevice();
  const Status entered = enter("join", number);
  if (!entered.ok()) return entered;
  std::string name;
  for (const std::byte byte : id) name += static_cast<char>(byte);
  std::shared_ptr<Mail> mail;
  if (options_.mailFolder.empty())
    mail = LocalMails::find(name);
  else
    mail = std::make_shared<FileMail>(options_.mailFolder, name);
  auto made = std::make_shared<StandInCommunicator>(number, ranks, rank, std::move(mail), over_);
  if (!strikes(Fault::Kind::absent, number)) made->announce();
  out = made.get();
  const std::lock_guard lock(mutex_);
  communicators_[out] = std::move(made);
  return {};
}

Status StandIn::asyncStatus(Comm comm, bool& busy) {
  const auto communicator = communicatorOf(comm);
  if (!communicator) return handleError("asyncStatus", "a communicator that does not exist");
  busy = !communicator->complete();
  const Status entered = enter("asyncStatus", communicator->device());
  return entered.ok() ? communicator->error() : entered;
}

Status StandIn::leave(Comm comm) {
  const auto communicator = communicatorOf(comm);
  if (!communicator) return handleError("leave", "a communicator that does not exist");
  if (!communicator->idle()) violations_.add("leave: work of the communicator has not ended");
  const Status entered = enter("leave", communicator->device());
  if (!entered.ok()) return entered;  // it is still there
  const std::lock_guard lock(mutex_);
  communicators_.erase(comm);
  return {};
}

Status StandIn::abort(Comm comm) {
  const auto communicator = communicatorOf(comm);
  if (!communicator) return handleError("abort", "a communicator that does not exist");
  {
    const std::lock_guard lock(mutex_);
    communicators_.erase(comm);
    std::erase_if(registrations_, [&](const auto& entry) { return entry.second == comm; });
  }
  communicator->abort();
  return enter("abort", -1);
}

Status StandIn::registerBuffer(Comm comm, void* memory, std::size_t, void*& handle) {
  const auto communicator = communicatorOf(comm);
  if (!communicator) return handleError("registerBuffer", "a communicator that does not exist");
  const Status entered = enter("registerBuffer", communicator->device());
  if (!entered.ok()) return entered;
  if (!options_.registersBuffers) return {kInvalidUsage, "registerBuffer: not supported (10005)"};
  static_cast<void>(memory);
  const std::lock_guard lock(mutex_);
  handle = reinterpret_cast<void*>(++created_);
  registrations_[handle] = comm;
  return {};
}

Status StandIn::deregisterBuffer(Comm comm, void* handle) {
  const Status entered = enter("deregisterBuffer", -1);
  {
    const std::lock_guard lock(mutex_);
    const auto found = registrations_.find(handle);
    if (found != registrations_.end() && found->second == comm) {
      registrations_.erase(found);
      return entered;
    }
  }
  return handleError("deregisterBuffer", "a buffer that is not registered");
}

Status StandIn::groupStart() {
  ++threadGroup().depth;
  return enter("groupStart", -1);
}

Status StandIn::groupEnd() {
  const Status entered = enter("groupEnd", -1);
  ThreadGroup& group = threadGroup();
  if (group.depth == 0) return {kInvalidUsage, "groupEnd: invalid usage (10005)"};
  if (--group.depth > 0) return entered;
  const std::vector<Grouped> calls = std::move(group.calls);
  group.calls.clear();
  Status first = entered;
  for (const Grouped& call : calls)
    if (const Status issued = issue(call); first.ok()) first = issued;
  return first;
}

/// One launch: a collective, or all sends and receives of a group on one communicator and stream.
Status StandIn::issue(const Grouped& call) {
  const auto stream = streamOf(call.stream);
  if (!stream) return handleError("collective", "a stream that does not exist");
  const std::uint64_t turn = call.communicator->issue();
  stream->push([this, call, turn] {
    StandInCommunicator& communicator = *call.communicator;
    StandInDevice& memory = device(communicator.device());
    if (strikes(Fault::Kind::deviceError, communicator.device()))
      memory.breakDown({719, "unspecified launch failure (719)"});
    if (strikes(Fault::Kind::communicatorError, communicator.device())) {
      communicator.setError({kRemoteError, "remote process exited or there was a network error (10006)"});
      return communicator.stall(turn);
    }
    if (strikes(Fault::Kind::stall, communicator.device()) || !memory.status().ok())
      return communicator.stall(turn);
    if (call.collective)
      communicator.run(turn, *call.collective, memory);
    else
      communicator.run(turn, call.peers, memory);
  });
  return {};
}

Status StandIn::communicate(const char* function, const CollectiveWork& work, Comm comm, Stream stream) {
  const auto communicator = communicatorOf(comm);
  if (!communicator) return handleError(function, "a communicator that does not exist");
  const Status entered = enter(function, communicator->device());
  if (!entered.ok()) return entered;
  if (!communicator->complete()) return handleError(function, "a communicator that has not come together");
  const auto on = streamOf(stream);
  if (!on || on->device() != communicator->device())
    return handleError(function, "a stream that is not of the communicator's device");
  Grouped call{communicator, stream, {}, work};
  if (threadGroup().depth == 0) return issue(call);
  threadGroup().calls.push_back(std::move(call));
  return {};
}

Status StandIn::exchangeWithPeer(const char* function, const PeerWork& work, Comm comm, Stream stream) {
  const auto communicator = communicatorOf(comm);
  if (!communicator) return handleError(function, "a communicator that does not exist");
  const Status entered = enter(function, communicator->device());
  if (!entered.ok()) return entered;
  if (work.peer < 0 || work.peer >= communicator->ranks())
    return handleError(function, "a peer that the communicator does not have");
  ThreadGroup& group = threadGroup();
  if (group.depth == 0) return issue({communicator, stream, {work}, std::nullopt});
  for (Grouped& call : group.calls)
    if (call.communicator == communicator && call.stream == stream && !call.collective) {
      call.peers.push_back(work);
      return {};
    }
  group.calls.push_back({communicator, stream, {work}, std::nullopt});
  return {};
}

Status StandIn::allGather(const void* send, void* receive, std::size_t count, DType type, Comm comm,
                          Stream stream) {
  return communicate("allGather",
                     {CollectiveKind::allGather, core::ReduceOp::none, type, count, 0, send, receive}, comm,
                     stream);
}

Status StandIn::reduceScatter(const void* send, void* receive, std::size_t count, DType type,
                              core::ReduceOp reduce, Comm comm, Stream stream) {
  return communicate("reduceScatter", {CollectiveKind::reduceScatter, reduce, type, count, 0, send, receive},
                     comm, stream);
}

Status StandIn::allReduce(const void* send, void* receive, std::size_t count, DType type,
                          core::ReduceOp reduce, Comm comm, Stream stream) {
  return communicate("allReduce", {CollectiveKind::allReduce, reduce, type, count, 0, send, receive}, comm,
                     stream);
}

Status StandIn::broadcast(const void* send, void* receive, std::size_t count, DType type, int root, Comm comm,
                          Stream stream) {
  return communicate("broadcast",
                     {CollectiveKind::broadcast, core::ReduceOp::none, type, count, root, send, receive},
                     comm, stream);
}

Status StandIn::send(const void* memory, std::size_t count, DType type, int peer, Comm comm, Stream stream) {
  return exchangeWithPeer("send", {true, memory, nullptr, count, type, peer}, comm, stream);
}

Status StandIn::receive(void* memory, std::size_t count, DType type, int peer, Comm comm, Stream stream) {
  return exchangeWithPeer("receive", {false, nullptr, memory, count, type, peer}, comm, stream);
}

}  // namespace vsim::test
