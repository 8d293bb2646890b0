#include "gpu/cuda/communicators.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "gpu/cuda/cuda_status.h"
#include "gpu/cuda/nccl_versions.h"

namespace vsim::gpu::cuda {

using device::Status;

struct Member {
  ncclComm_t comm = nullptr;
  std::atomic<bool> gone{false};  // aborted or left
  std::atomic<int> users{0};      // calls under way
};

namespace {

using Clock = std::chrono::steady_clock;

Status ncclStatus(const char* call, int code, ncclComm_t comm = nullptr) {
  if (code == ncclSuccess || code == ncclInProgress) return {};
  std::string text = std::string(call) + ": " + ncclGetErrorString(static_cast<ncclResult_t>(code));
  const char* const last = ncclGetLastError(comm);
  if (last != nullptr && last[0] != '\0') text += ": " + std::string(last);
  return {kNcclCodes + code, text + " (" + std::to_string(code) + ")"};
}

Status goneStatus(const char* call) {
  return refused(std::string(call) + ": the communicator was aborted or left");
}

/// Holds a member against abort() while a call uses it.
class Use {
 public:
  explicit Use(Member& member) : member_(member) {
    ++member_.users;
    held_ = !member_.gone;
  }
  ~Use() { --member_.users; }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  [[nodiscard]] bool held() const { return held_; }

 private:
  Member& member_;
  bool held_ = false;
};

/// Calls of this thread between groupStart and the groupEnd that launches them.
struct Group {
  int depth = 0;
  std::vector<Member*> members;
};
Group& groupOfThread() {
  thread_local Group group;
  return group;
}

/// Calls of a group use their communicators until groupEnd has made the launch.
void addToGroup(Group& group, Member& member) {
  if (std::find(group.members.begin(), group.members.end(), &member) != group.members.end()) return;
  ++member.users;
  group.members.push_back(&member);
}

void pause(Clock::time_point since) {
  if (Clock::now() - since < std::chrono::milliseconds(1))
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

Member& memberOf(device::Comm comm) { return *static_cast<Member*>(comm); }

ncclResult_t issue(TransferKind kind, const Transfer& t, ncclDataType_t type, ncclRedOp_t operation,
                   ncclComm_t comm, cudaStream_t stream) {
  switch (kind) {
    case TransferKind::allGather:
      return ncclAllGather(t.send, t.receive, t.count, type, comm, stream);
    case TransferKind::reduceScatter:
      return ncclReduceScatter(t.send, t.receive, t.count, type, operation, comm, stream);
    case TransferKind::allReduce:
      return ncclAllReduce(t.send, t.receive, t.count, type, operation, comm, stream);
    case TransferKind::broadcast:
      return ncclBroadcast(t.send, t.receive, t.count, type, t.peer, comm, stream);
    case TransferKind::send:
      return ncclSend(t.send, t.count, type, t.peer, comm, stream);
    case TransferKind::receive:
      return ncclRecv(t.receive, t.count, type, t.peer, comm, stream);
  }
  return ncclInvalidArgument;
}

const char* callName(TransferKind kind) {
  constexpr const char* kNames[] = {"ncclAllGather", "ncclReduceScatter", "ncclAllReduce",
                                    "ncclBroadcast", "ncclSend",          "ncclRecv"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace

Communicators::Communicators() = default;
Communicators::~Communicators() = default;

Status Communicators::version(int& out) { return ncclStatus("ncclGetVersion", ncclGetVersion(&out)); }

Status Communicators::uniqueId(device::UniqueId& out) {
  ncclUniqueId id;
  Status status = ncclStatus("ncclGetUniqueId", ncclGetUniqueId(&id));
  if (!status.ok()) return status;
  out.resize(sizeof id);
  std::memcpy(out.data(), &id, sizeof id);
  return {};
}

Status Communicators::settle(Member& member, const char* call, int code) {
  const Clock::time_point since = Clock::now();
  ncclResult_t state = static_cast<ncclResult_t>(code);
  while (state == ncclInProgress) {
    if (member.gone) return goneStatus(call);
    const ncclResult_t asked = ncclCommGetAsyncError(member.comm, &state);
    if (asked != ncclSuccess) return ncclStatus("ncclCommGetAsyncError", asked, member.comm);
    if (state != ncclInProgress) break;
    const std::chrono::duration<double> waited = Clock::now() - since;
    if (waited.count() > limitSeconds_)
      return refused(std::string(call) + ": waited " + std::to_string(static_cast<int>(waited.count())) +
                     " s for other ranks");
    pause(since);
  }
  return ncclStatus(call, state, member.comm);
}

Status Communicators::join(device::Comm& out, int ranks, const device::UniqueId& id, int rank) {
  ncclUniqueId unique;
  if (id.size() != sizeof unique) return refused("ncclCommInitRankConfig: an id of another library");
  std::memcpy(&unique, id.data(), sizeof unique);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  auto made = std::make_unique<Member>();
  const ncclResult_t code = ncclCommInitRankConfig(&made->comm, ranks, unique, rank, &config);
  Status status = ncclStatus("ncclCommInitRankConfig", code);
  if (!status.ok()) return status;
  out = made.get();
  const std::lock_guard lock(mutex_);
  members_.push_back(std::move(made));
  return {};
}

Status Communicators::asyncStatus(device::Comm comm, bool& busy) {
  Member& member = memberOf(comm);
  const Use use(member);
  busy = false;
  if (!use.held()) return goneStatus("ncclCommGetAsyncError");
  ncclResult_t state = ncclSuccess;
  const ncclResult_t asked = ncclCommGetAsyncError(member.comm, &state);
  if (asked != ncclSuccess) return ncclStatus("ncclCommGetAsyncError", asked, member.comm);
  busy = state == ncclInProgress;
  return ncclStatus("communicator", state, member.comm);
}

Status Communicators::leave(device::Comm comm) {
  Member& member = memberOf(comm);
  {
    const Use use(member);
    if (!use.held()) return goneStatus("ncclCommFinalize");
    Status status = settle(member, "ncclCommFinalize", ncclCommFinalize(member.comm));
    if (!status.ok()) return status;  // abort() is what is left
  }
  if (member.gone.exchange(true)) return goneStatus("ncclCommDestroy");
  while (member.users > 0) std::this_thread::yield();
  return ncclStatus("ncclCommDestroy", ncclCommDestroy(member.comm));
}

Status Communicators::abort(device::Comm comm) {
  Member& member = memberOf(comm);
  if (member.gone.exchange(true)) return {};
  std::vector<Member*>& own =
      groupOfThread().members;  // an unfinished group of this thread would wait for itself
  member.users -= static_cast<int>(std::erase(own, &member));
  while (member.users > 0) std::this_thread::yield();  // they see `gone` and leave
  return ncclStatus("ncclCommAbort", ncclCommAbort(member.comm));
}

Status Communicators::registerBuffer(device::Comm comm, void* memory, std::size_t bytes, void*& handle) {
  Member& member = memberOf(comm);
  const Use use(member);
  if (!use.held()) return goneStatus("ncclCommRegister");
  return settle(member, "ncclCommRegister", ncclCommRegister(member.comm, memory, bytes, &handle));
}

Status Communicators::deregisterBuffer(device::Comm comm, void* handle) {
  Member& member = memberOf(comm);
  const Use use(member);
  if (!use.held()) return goneStatus("ncclCommDeregister");
  if (handle == nullptr) return {};  // the library registers nothing (NCCL_LOCAL_REGISTER=0)
  return settle(member, "ncclCommDeregister", ncclCommDeregister(member.comm, handle));
}

Status Communicators::groupStart() {
  Status status = ncclStatus("ncclGroupStart", ncclGroupStart());
  if (status.ok()) ++groupOfThread().depth;
  return status;
}

Status Communicators::groupEnd() {
  Group& group = groupOfThread();
  if (group.depth == 0) return refused("ncclGroupEnd without ncclGroupStart");
  const ncclResult_t code = ncclGroupEnd();
  if (--group.depth > 0) return ncclStatus("ncclGroupEnd", code);
  const std::vector<Member*> members = std::exchange(group.members, {});
  Status status = ncclStatus("ncclGroupEnd", code);
  // Each communicator of the group makes its launch on its own.
  for (Member* const member : members) {
    if (status.ok())
      status = member->gone ? goneStatus("ncclGroupEnd") : settle(*member, "ncclGroupEnd", code);
    --member->users;
  }
  return status;
}

Status Communicators::transfer(TransferKind kind, const Transfer& transfer, device::Comm comm,
                               device::Stream stream) {
  const char* const call = callName(kind);
  const bool reduced = kind == TransferKind::reduceScatter || kind == TransferKind::allReduce;
  ncclDataType_t type = ncclFloat32;
  ncclRedOp_t operation = ncclSum;
  if (!ncclType(transfer.type, reduced, type))
    return refused(std::string(call) + ": this NCCL does not reduce " +
                   std::string(core::name(transfer.type)));
  if (reduced && !ncclOperation(transfer.operation, operation))
    return refused(std::string(call) + ": no operation to reduce with");
  Member& member = memberOf(comm);
  const Use use(member);
  if (!use.held()) return goneStatus(call);
  const ncclResult_t code =
      issue(kind, transfer, type, operation, member.comm, static_cast<cudaStream_t>(stream));
  Group& group = groupOfThread();
  if (group.depth == 0) return settle(member, call, code);
  addToGroup(group, member);
  return ncclStatus(call, code, member.comm);
}

}  // namespace vsim::gpu::cuda
