// Programs recorded from PyTorch's compiled allocator: every placement, statistic and driver call.
#include <catch2/catch.hpp>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/memory/caching_allocator.h"
#include "tests/support/reference.h"

using namespace vsim;
using nlohmann::json;
using Call = sim::DriverCall;

namespace {

// Work queued on streams: an event completes on request, or when the allocator waited for it.
struct Events {
  std::vector<std::uint64_t> issued = std::vector<std::uint64_t>(256), done = issued;
};

void drain(Events& events, const sim::CachingAllocator& allocator, std::size_t callsBefore,
           std::int64_t waitsBefore) {
  bool all = allocator.statistics().numSyncAllStreams != waitsBefore;
  for (std::size_t i = callsBefore; i < allocator.driverCalls().size(); ++i)
    all |= allocator.driverCalls()[i].kind == Call::Kind::free;
  if (all) events.done = events.issued;
}

json callsAsJson(const sim::CachingAllocator& allocator, std::size_t from) {
  json list = json::array();
  for (std::size_t i = from; i < allocator.driverCalls().size(); ++i) {
    const Call& call = allocator.driverCalls()[i];
    switch (call.kind) {
      case Call::Kind::malloc:
        list.push_back({"malloc", call.range, call.bytes});
        break;
      case Call::Kind::free:
        list.push_back({"free", call.range, call.bytes});
        break;
      case Call::Kind::mallocFailed:
        list.push_back({"malloc_failed", call.bytes});
        break;
      case Call::Kind::reserve:
        list.push_back({"reserve", call.range, call.bytes});
        break;
      case Call::Kind::addressFree:
        list.push_back({"addr_free", call.range, call.bytes});
        break;
      case Call::Kind::map:
        list.push_back({"map", call.range, call.offset, call.bytes});
        break;
      case Call::Kind::unmap:
        list.push_back({"unmap", call.range, call.offset, call.bytes});
        break;
      case Call::Kind::createFailed:
        list.push_back({"create_failed", call.bytes});
        break;
    }
  }
  return list;
}

json memoryCalls(const json& result) {
  json list = json::array();
  if (!result.contains("driver")) return list;
  for (const json& call : result["driver"]) {
    const std::string kind = call[0];
    if (kind != "event_record" && kind != "event_sync" && kind != "stream_sync" && kind != "device_sync")
      list.push_back(call);
  }
  return list;
}

json current(const sim::CachingAllocator& allocator) {
  const auto& s = allocator.statistics();
  const auto& a = s.all;
  return {a.allocatedBytes.current,
          a.activeBytes.current,
          a.requestedBytes.current,
          a.reservedBytes.current,
          a.segment.current,
          a.inactiveSplitBytes.current,
          a.inactiveSplit.current,
          a.allocation.current,
          a.active.current,
          s.numAllocRetries,
          s.numOoms,
          s.numDeviceAlloc,
          s.numDeviceFree,
          s.numSyncAllStreams,
          s.numOomRejections};
}

void put(json& out, const std::string& name, const sim::Statistic& s) {
  for (const auto& [key, value] :
       {std::pair{"current", s.current}, {"peak", s.peak}, {"allocated", s.allocated}, {"freed", s.freed()}})
    if (value != 0) out[name + "." + key] = value;
}

// All non-zero torch.cuda.memory_stats().
json memoryStats(const sim::CachingAllocator& allocator) {
  const auto& s = allocator.statistics();
  json out = json::object();
  for (const auto& [pool, p] :
       {std::pair{".all", &s.all}, {".small_pool", &s.smallPool}, {".large_pool", &s.largePool}}) {
    put(out, std::string("allocation") + pool, p->allocation);
    put(out, std::string("allocated_bytes") + pool, p->allocatedBytes);
    put(out, std::string("active") + pool, p->active);
    put(out, std::string("active_bytes") + pool, p->activeBytes);
    put(out, std::string("requested_bytes") + pool, p->requestedBytes);
    put(out, std::string("segment") + pool, p->segment);
    put(out, std::string("reserved_bytes") + pool, p->reservedBytes);
    put(out, std::string("inactive_split") + pool, p->inactiveSplit);
    put(out, std::string("inactive_split_bytes") + pool, p->inactiveSplitBytes);
  }
  put(out, "oversize_allocations", s.oversizeAllocations);
  put(out, "oversize_segments", s.oversizeSegments);
  for (const auto& [name, value] : {std::pair{"num_alloc_retries", s.numAllocRetries},
                                    {"num_ooms", s.numOoms},
                                    {"num_device_alloc", s.numDeviceAlloc},
                                    {"num_device_free", s.numDeviceFree},
                                    {"num_sync_all_streams", s.numSyncAllStreams},
                                    {"num_oom_rejections", s.numOomRejections}})
    if (value != 0) out[name] = value;
  out["max_split_size"] =
      allocator.options().maxSplitSize == sim::kUnlimited ? -1 : allocator.options().maxSplitSize;
  return out;
}

json segmentsAsJson(const sim::CachingAllocator& allocator) {
  json out = json::array();
  for (const auto& s : allocator.snapshot()) {
    json blocks = json::array();
    for (const auto& b : s.blocks) {
      using State = sim::CachingAllocator::BlockState;
      const char* state = b.state == State::allocated ? "A" : b.state == State::inactive ? "I" : "P";
      const auto offset = static_cast<std::int64_t>(b.address - s.address);
      blocks.push_back({offset, b.size, b.requested, state});
    }
    out.push_back({{"seg", s.range},
                   {"offset", s.offset},
                   {"size", s.size},
                   {"stream", s.stream},
                   {"pool", s.small ? "small" : "large"},
                   {"expandable", s.expandable ? 1 : 0},
                   {"allocated", s.allocated},
                   {"active", s.active},
                   {"requested", s.requested},
                   {"blocks", blocks}});
  }
  return out;
}

std::int64_t number(const json& value) {
  return value.is_boolean() ? value.get<bool>() : value.get<std::int64_t>();
}

class Replay {
 public:
  explicit Replay(const json& program) : program_(program), allocator_(options(program)) {
    allocator_.setProgress(
        [this](core::StreamId s) { return ++events_.issued[s]; },
        [this](core::StreamId s, std::uint64_t ticket) { return ticket <= events_.done[s]; });
  }

  // "" when everything agrees, else the first difference.
  std::string run() {
    const json& ops = program_["ops"];
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const std::string difference = step(ops[i], program_["results"][i]);
      if (!difference.empty()) return fmt::format("op {} {}: {}", i, ops[i].dump(), difference);
    }
    json segments = program_["final_segments"];
    for (json& s : segments) s["expandable"] = number(s["expandable"]);
    if (segments != segmentsAsJson(allocator_))
      return "final segments differ: " + json::diff(segments, segmentsAsJson(allocator_)).dump();
    json stats = program_["final_memory_stats"];
    json ours = memoryStats(allocator_);
    if (!stats.contains("max_split_size")) ours.erase("max_split_size");
    if (stats != ours) return "final statistics: " + json::diff(stats, ours).dump();
    return "";
  }

 private:
  static sim::AllocatorOptions options(const json& program) {
    sim::AllocatorOptions base;
    base.capacity = program["capacity"];
    base.recordDriverCalls = true;
    if (program["addr_policy"] == "down") base.addressOrder = sim::AllocatorOptions::AddressOrder::descending;
    if (!program["fraction"].is_null()) base.memoryFraction = program["fraction"].get<double>();
    auto parsed = sim::parseAllocatorOptions(program["conf"].get<std::string>(), base);
    INFO(program["conf"]);
    REQUIRE(parsed);
    return *parsed;
  }

  std::string step(const json& op, const json& result) {
    const std::string kind = op[0];
    const std::size_t callsBefore = allocator_.driverCalls().size();
    const std::int64_t waitsBefore = allocator_.statistics().numSyncAllStreams;
    if (kind == "m") {
      const auto block = allocator_.allocate(op[2], static_cast<core::StreamId>(op[3].get<int>()));
      if (block.has_value() == (result.contains("oom") && number(result["oom"]) == 1))
        return block ? "should be out of memory" : "out of memory";
      if (block) {
        addresses_[op[1]] = block->address;
        const auto place = allocator_.placeOf(block->address);
        const json at = place ? json{place->range, place->offset} : json(nullptr);
        const json expected = result.contains("at") ? result["at"] : json(nullptr);
        if (at != expected) return "placed at " + at.dump() + ", not " + expected.dump();
      }
    } else if (kind == "f") {
      allocator_.release(addresses_.at(op[1]));
    } else if (kind == "r") {
      allocator_.recordStream(addresses_.at(op[1]), static_cast<core::StreamId>(op[2].get<int>()));
    } else if (kind == "c") {
      const std::size_t s = op[1];
      events_.done[s] = op.size() > 2
                            ? std::min(events_.issued[s], events_.done[s] + op[2].get<std::uint64_t>())
                            : events_.issued[s];
    } else if (kind == "e") {
      allocator_.emptyCache();
    } else if (kind == "fr") {
      allocator_.setMemoryFraction(op[1]);
    } else if (kind == "conf") {
      if (!allocator_.configure(op[1].get<std::string>())) return "settings refused";
    } else {
      return "unknown op";
    }
    drain(events_, allocator_, callsBefore, waitsBefore);
    const json calls = callsAsJson(allocator_, callsBefore), expected = memoryCalls(result);
    if (calls != expected) return "driver calls " + calls.dump() + ", not " + expected.dump();
    if (result.contains("stats") && current(allocator_) != result["stats"])
      return "statistics " + current(allocator_).dump() + ", not " + result["stats"].dump();
    return "";
  }

  const json& program_;
  Events events_;
  sim::CachingAllocator allocator_;
  std::map<std::int64_t, std::uint64_t> addresses_;
};

void replayFile(const std::string& name) {
  const auto text = test::referenceText(name);
  if (!text) return;
  std::istringstream lines(*text);
  int programs = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    const json program = json::parse(line);
    INFO(program["name"] << " " << program["conf"]);
    CHECK(Replay(program).run() == "");
    ++programs;
  }
  std::cout << name << ": " << programs << " programs\n";
}

}  // namespace

TEST_CASE("recorded allocator programs") { replayFile("pytorch/allocator/allocator_vectors.jsonl"); }
TEST_CASE("recorded training steps of the allocator") { replayFile("pytorch/allocator/train_traces.jsonl"); }
