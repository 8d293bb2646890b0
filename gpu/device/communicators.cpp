#include "gpu/device/communicators.h"

#include <algorithm>
#include <sstream>
#include <thread>

#include "gpu/data_plan.h"

namespace vsim::gpu::device {

using core::Index;
using core::StepProgram;

namespace {

std::string toHex(const UniqueId& id) {
  std::string text;
  for (const std::byte byte : id) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

UniqueId fromHex(const std::string& text) {
  UniqueId id;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    id.push_back(static_cast<std::byte>(std::stoul(text.substr(i, 2), nullptr, 16)));
  return id;
}

}  // namespace

std::vector<bool> usedGroups(const StepProgram& program) {
  std::vector<bool> used(program.groups.size(), false);
  for (const core::Instruction& instruction : program.step)
    if (instruction.kind == core::InstructionKind::collective)
      used[program.collectives[instruction.operand].group] = true;
  return used;
}

RankCommunicator::RankCommunicator(Api& api, std::vector<int> members, int rank)
    : api_(api), members_(std::move(members)) {
  index_ = static_cast<int>(std::find(members_.begin(), members_.end(), rank) - members_.begin());
}

std::string RankCommunicator::title() const {
  return fmt::format("group {} of rank{} {}", group_, members_.size() == 1 ? "" : "s",
                     fmt::join(members_, ", "));
}

void RankCommunicator::join(const RankContext& context, const UniqueId& id,
                            std::chrono::milliseconds timeout) {
  if (joined()) return;
  const auto began = std::chrono::steady_clock::now();
  const auto problem = [&](const std::string& what) {
    context.fail(fmt::format("cannot join {}: {}", title(), what));
  };
  Comm made = nullptr;
  const Status started = api_.join(made, static_cast<int>(members_.size()), id, index_);
  if (!started.ok()) problem(started.text);
  comm_.store(made, std::memory_order_release);
  while (true) {
    bool busy = true;
    {
      const std::lock_guard lock(calls);  // the watchdog may abort meanwhile
      context.checkStopped();
      if (const Status status = api_.asyncStatus(made, busy); !status.ok()) problem(status.text);
    }
    if (!busy) break;
    if (std::chrono::steady_clock::now() - began > timeout)
      context.fail(fmt::format("not all of {} came together within {} ms", title(), timeout.count()),
                   "every rank of the group must be running, and their hosts must reach each other");
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  joined_.store(true, std::memory_order_release);
}

void RankCommunicator::leave() {
  if (comm() == nullptr || dead_.exchange(true)) return;
  // Who cannot leave in peace (another rank is gone) leaves without.
  if (!api_.leave(comm()).ok()) static_cast<void>(api_.abort(comm()));
}

void RankCommunicator::abort() {
  if (comm() == nullptr || dead_.exchange(true)) return;
  // A call that is being made ends soon, or hangs in what the abort is to end.
  constexpr int kLooks = 500;
  bool locked = calls.try_lock();
  for (int look = 0; !locked && look < kLooks; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    locked = calls.try_lock();
  }
  static_cast<void>(api_.abort(comm()));
  if (locked) calls.unlock();
}

Status RankCommunicator::asyncStatus() const {
  if (!joined() || dead()) return {};
  bool busy = false;
  return api_.asyncStatus(comm(), busy);
}

std::vector<Communicators::Key> Communicators::keysOf(const StepProgram& program) {
  std::map<std::pair<std::int64_t, std::int64_t>, int> seen;
  std::vector<Key> keys;
  for (const core::CommGroup& group : program.groups)
    keys.push_back({group.size, group.stride, seen[{group.size, group.stride}]++});
  return keys;
}

core::Result<std::string> Communicators::newIds(const StepProgram& program, const std::vector<Key>& keys) {
  std::string mine;
  const std::vector<bool> used = usedGroups(program);
  for (Index g = 0; g < keys.size(); ++g) {
    if (!used[g] || known_.contains(keys[g])) continue;
    for (const int rank : ranks_) {
      if (membersOf(program.groups[g], rank).front() != rank) continue;
      UniqueId id;
      if (const Status status = api_.uniqueId(id); !status.ok())
        return core::fail(
            fmt::format("rank {} cannot begin group {}: {}", rank, program.groups[g].name, status.text));
      mine += fmt::format("{} {} {}\n", g, rank, toHex(id));
    }
  }
  return mine;
}

core::Result<void> Communicators::prepare(const StepProgram& program, Job& job) {
  const std::vector<Key> keys = keysOf(program);
  const std::vector<bool> used = usedGroups(program);
  bool missing = false;  // the same on all processes: they run the same programs
  for (Index g = 0; g < keys.size(); ++g) missing |= used[g] && !known_.contains(keys[g]);
  if (missing) {
    const auto mine = newIds(program, keys);
    if (!mine) {
      if (job.processes() > 1) job.fail(mine.error());
      return tl::unexpected(mine.error());
    }
    const auto everybody = job.exchange(*mine);
    if (!everybody) return tl::unexpected(everybody.error());
    std::map<std::pair<Index, int>, UniqueId> ids;  // (group, first rank)
    for (const std::string& text : *everybody) {
      std::istringstream lines(text);
      Index group = 0;
      int first = 0;
      for (std::string id; lines >> group >> first >> id;) ids[{group, first}] = fromHex(id);
    }
    for (Index g = 0; g < keys.size(); ++g) {
      if (!used[g] || known_.contains(keys[g])) continue;
      for (const int rank : ranks_) {
        std::vector<int> members = membersOf(program.groups[g], rank);
        const UniqueId id = ids[{g, members.front()}];
        auto made = std::make_unique<RankCommunicator>(api_, std::move(members), rank);
        ids_[made.get()] = id;
        known_[keys[g]].push_back(std::move(made));
      }
    }
  }
  for (Index g = 0; g < keys.size(); ++g)
    if (used[g])
      for (const auto& communicator : known_[keys[g]]) communicator->setGroup(program.groups[g].name);
  return {};
}

std::vector<RankCommunicator*> Communicators::of(const StepProgram& program, int localRank) {
  const std::vector<Key> keys = keysOf(program);
  std::vector<RankCommunicator*> result;
  for (const Key& key : keys) {
    const auto found = known_.find(key);
    result.push_back(found == known_.end() ? nullptr
                                           : found->second[static_cast<std::size_t>(localRank)].get());
  }
  return result;
}

std::vector<RankCommunicator*> Communicators::all() const {
  std::vector<RankCommunicator*> result;
  for (const auto& [key, communicators] : known_)
    for (const auto& communicator : communicators) result.push_back(communicator.get());
  return result;
}

void Communicators::leave(const std::vector<int>& devices) {
  std::vector<std::thread> ranks;
  for (std::size_t r = 0; r < devices.size(); ++r)
    ranks.emplace_back([this, r, device = devices[r]] {
      static_cast<void>(api_.useDevice(device));
      for (const auto& [key, communicators] : known_) communicators[r]->leave();
    });
  for (std::thread& rank : ranks) rank.join();
}

void Communicators::abort() const {
  std::vector<std::thread> aborts;
  for (RankCommunicator* communicator : all())
    if (communicator->comm() != nullptr && !communicator->dead())
      aborts.emplace_back([communicator] { communicator->abort(); });
  for (std::thread& each : aborts) each.join();
}

}  // namespace vsim::gpu::device
