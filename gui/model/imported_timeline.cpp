#include "gui/model/imported_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace vsim::gui {
namespace {

using traces::ImportedSlice;
using traces::ImportedThread;
using traces::ImportedTrace;

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::optional<SliceClass> collectiveOf(const std::string& name) {
  const bool communicates = has(name, "nccl") || has(name, "NCCL") || has(name, "ALL-") ||
                            has(name, "REDUCE-SCATTER") || has(name, "BROADCAST") || has(name, "c10d");
  if (!communicates) return std::nullopt;
  for (const auto part : {"AllGather", "ALL-GATHER", "all_gather", "allgather"})
    if (has(name, part)) return SliceClass::allGather;
  for (const auto part : {"ReduceScatter", "REDUCE-SCATTER", "reduce_scatter"})
    if (has(name, part)) return SliceClass::reduceScatter;
  for (const auto part : {"AllToAll", "ALL-TO-ALL", "SendRecv", "all_to_all", "alltoall"})
    if (has(name, part)) return SliceClass::allToAll;
  return SliceClass::allReduce;
}

class Importer {
 public:
  explicit Importer(ImportedTrace trace) : trace_(std::move(trace)) {
    for (const std::string& name : trace_.names) collectives_.push_back(collectiveOf(name));
    for (const std::string& category : trace_.categories) {
      isKernel_.push_back(category == "kernel" || category == "Kernel" || category == "collective");
      isCopy_.push_back(has(category, "memcpy") || has(category, "memset") || has(category, "Memcpy") ||
                        has(category, "Memset"));
    }
  }

  ImportedTimeline take() {
    std::int64_t process = -1;
    for (std::size_t t = 0; t < trace_.threads.size(); ++t) {
      const ImportedThread& thread = trace_.threads[t];
      if (isSteps(thread)) {
        addSteps(thread);
        continue;
      }
      if (process < 0 ||
          trace_.threads[static_cast<std::size_t>(firstThread_)].processNumber != thread.processNumber) {
        ++process;
        firstThread_ = static_cast<std::int64_t>(t);
        data_->tracks.push_back({.kind = Track::Kind::rankClass,
                                 .title = thread.process,
                                 .rankClass = process,
                                 .firstRank = process});
      }
      addThread(thread, process);
    }
    std::sort(data_->steps.begin(), data_->steps.end(), [](auto a, auto b) { return a.begin < b.begin; });
    data_->names = std::move(trace_.names);
    addNotes();
    return {std::move(data_), std::move(notes_)};
  }

 private:
  bool isSteps(const ImportedThread& thread) const {
    return thread.name == "steps" && std::ranges::all_of(thread.slices, [&](const ImportedSlice& slice) {
             return trace_.names[slice.name].starts_with("step ");
           });
  }
  void addSteps(const ImportedThread& thread) {
    if (!data_->steps.empty()) return;  // of the first process
    for (const ImportedSlice& slice : thread.slices) data_->steps.push_back({slice.begin, slice.end});
  }

  SliceClass classOf(const ImportedThread& thread, const ImportedSlice& slice) const {
    const bool kernel = isKernel_[slice.category];
    if (const auto collective = collectives_[slice.name]; collective && kernel) return *collective;
    const bool stream = thread.name.starts_with("stream ");
    if (!kernel) return stream || isCopy_[slice.category] ? SliceClass::copy : SliceClass::host;
    if (stream && thread.name != "stream default" && !trace_.phases[slice.phase].empty())
      return SliceClass::copy;
    const std::string& phase = trace_.phases[slice.phase];
    if (phase == "optimizer") return SliceClass::optimizer;
    if (phase == "backward" || phase == "recompute" || phase == "reduce") return SliceClass::backward;
    return SliceClass::forward;
  }

  void addThread(const ImportedThread& thread, std::int64_t process) {
    std::vector<const ImportedSlice*> order;
    order.reserve(thread.slices.size());
    for (const ImportedSlice& slice : thread.slices) order.push_back(&slice);
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
      return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
    });
    std::vector<LaneColumns> rows;
    for (const ImportedSlice* slice : order) {
      if (trace_.names[slice->name].starts_with("ProfilerStep#")) {
        if (std::ranges::find(data_->steps, TimeRange{slice->begin, slice->end}) == data_->steps.end())
          data_->steps.push_back({slice->begin, slice->end});
      }
      std::size_t row = 0;
      while (row < rows.size() && rows[row].end.back() > slice->begin) ++row;
      if (row == kMaxRows) {
        ++leftOut_;
        continue;
      }
      if (row == rows.size()) rows.emplace_back();
      rows[row].begin.push_back(slice->begin);
      rows[row].end.push_back(slice->end);
      rows[row].kind.push_back(classOf(thread, *slice));
      rows[row].source.push_back(slice->name);
    }
    for (std::size_t row = 0; row < rows.size(); ++row) addLane(thread, process, row, std::move(rows[row]));
  }

  void addLane(const ImportedThread& thread, std::int64_t process, std::size_t row, LaneColumns lane) {
    if (data_->whole.empty()) data_->whole = {lane.begin.front(), lane.end.back()};
    data_->whole.begin = std::min(data_->whole.begin, lane.begin.front());
    data_->whole.end = std::max(data_->whole.end, lane.end.back());
    const bool compute =
        std::ranges::any_of(lane.kind, [](SliceClass kind) { return kind <= SliceClass::optimizer; });
    data_->tracks.push_back({.kind = Track::Kind::stream,
                             .title = row == 0 ? thread.name : fmt::format("{} ({})", thread.name, row + 1),
                             .depth = 1,
                             .lane = static_cast<std::int64_t>(data_->lanes.size()),
                             .rankClass = process,
                             .firstRank = process,
                             .compute = compute,
                             .communication = std::ranges::any_of(lane.kind, isCommunication)});
    data_->lanes.push_back(std::move(lane));
  }

  void addNotes() {
    if (leftOut_ > 0)
      notes_.push_back(fmt::format("{} events lie over more than {} others of their thread and are left out",
                                   leftOut_, kMaxRows));
    if (trace_.unfinished > 0)
      notes_.push_back(fmt::format("{} events have no begin or no end and are left out", trace_.unfinished));
  }

  ImportedTrace trace_;
  std::vector<std::optional<SliceClass>> collectives_;  // [name]
  std::vector<bool> isKernel_, isCopy_;                 // [category]
  std::shared_ptr<TimelineData> data_ = std::make_shared<TimelineData>();
  std::vector<std::string> notes_;
  std::int64_t firstThread_ = -1, leftOut_ = 0;
};

}  // namespace

ImportedTimeline importedTimeline(ImportedTrace trace) { return Importer(std::move(trace)).take(); }

}  // namespace vsim::gui
