#include "gui/model/slice_details.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gui/model/collective_details.h"
#include "traces/slice_text.h"

namespace vsim::gui {
namespace {

using core::kNone;
using core::Picoseconds;

std::string bytesText(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 2, kUnits[unit]);
}

/// nccl-tests' definition: all-reduce moves 2 (n-1)/n of its bytes over every link, the others (n-1)/n.
double busFactor(core::CollectiveKind kind, std::int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  if (kind == core::CollectiveKind::broadcast) return 1;
  return (kind == core::CollectiveKind::allReduce ? 2 : 1) * (n - 1) / n;
}

const LaneColumns& laneOf(const TimelineData& data, SliceRef slice) {
  return data.lanes[static_cast<std::size_t>(slice.lane)];
}

const Track* trackOf(const TimelineData& data, std::int64_t lane) {
  const auto found =
      std::ranges::find_if(data.tracks, [&](const Track& track) { return track.lane == lane; });
  return found == data.tracks.end() ? nullptr : &*found;
}

class Writer {
 public:
  Writer(const TimelineData& data, SliceRef slice, const sim::CollectiveModel* network)
      : data_(data), slice_(slice), network_(network) {
    const LaneColumns& lane = laneOf(data, slice);
    const auto i = static_cast<std::size_t>(slice.slice);
    begin_ = lane.begin[i];
    end_ = lane.end[i];
    kind_ = lane.kind[i];
    instruction_ = lane.source[i];
  }

  SliceDetails write(const StepGraph* graph, const PredictedSlices* predicted) {
    out_.title = data_.sliceName(slice_.lane, slice_.slice);
    row("kind", std::string(kSliceClassNames[static_cast<std::size_t>(kind_)]));
    row("duration", timeText(end_ - begin_));
    if (predicted != nullptr) writePrediction(*predicted);
    row("begin", timeText(begin_));
    row("end", timeText(end_));
    const core::Slice* logged = graph == nullptr ? nullptr : graph->logSlice(slice_);
    if (logged != nullptr) writeTimes(*logged);
    if (data_.log) writeWork();
    if (const Track* track = trackOf(data_, slice_.lane)) {
      row("stream", track->title);
      row("ranks", track->ranks == 1
                       ? fmt::format("rank {}", track->firstRank)
                       : fmt::format("{} alike, the first is {}", track->ranks, track->firstRank));
    }
    if (logged != nullptr) writeRelease(*graph, *logged);
    return std::move(out_);
  }

 private:
  void row(std::string name, std::string value) { out_.rows.emplace_back(std::move(name), std::move(value)); }

  void writePrediction(const PredictedSlices& predicted) {
    const auto duration = predicted.duration(instruction_);
    const Picoseconds measured = end_ - begin_;
    if (!duration) return row("predicted", "nothing: it ran in no simulated step");
    row("predicted",
        measured <= 0
            ? timeText(*duration)
            : fmt::format("{} ({:+.1f} %)", timeText(*duration),
                          100 * (static_cast<double>(*duration) / static_cast<double>(measured) - 1)));
  }

  void writeTimes(const core::Slice& slice) {
    row("issued by the host", timeText(slice.issued));
    row("from issue to begin", timeText(slice.begin - slice.issued));
    row("step", std::to_string(slice.step));
    row("duration is", std::string(core::name(slice.provenance)));
  }

  void writeWork() {
    const core::StepProgram& program = *data_.log->program;
    const core::Instruction& what = program.step[instruction_];
    row("phase", std::string(core::kPhaseNames[static_cast<std::size_t>(what.phase)]));
    const std::string unit = traces::sliceUnit(program, instruction_);
    if (!unit.empty())
      row("unit", unit);
    else if (const std::string layer = traces::sliceLayers(program)[instruction_]; !layer.empty())
      row("layer", layer);
    const auto bytes = static_cast<double>(traces::sliceBytes(program, instruction_));
    if (bytes > 0) row("bytes", bytesText(bytes));
    const double seconds = core::secondsFromPicoseconds(end_ - begin_);
    core::Index unitIndex = kNone;
    if (what.kind == core::InstructionKind::collective) {
      const core::Collective& collective = program.collectives[what.operand];
      unitIndex = collective.unit;
      writeCollective(program, collective, bytes, seconds);
    } else if (what.kind == core::InstructionKind::kernel) {
      const core::Kernel& kernel = program.kernels[what.operand];
      unitIndex = kernel.unit;
      row("role", std::string(core::kRoleNames[static_cast<std::size_t>(kernel.role)]));
      if (kernel.operation != kNone && seconds > 0) {
        const auto flops = static_cast<double>(program.operations[kernel.operation].flops);
        if (flops > 0) row("rate", fmt::format("{:.1f} TFLOP/s", flops / seconds / 1e12));
        if (bytes > 0) row("memory rate", fmt::format("{:.0f} GB/s", bytes / seconds / 1e9));
      }
    }
    writeTensors(program, unitIndex);
  }

  void writeCollective(const core::StepProgram& program, const core::Collective& collective, double bytes,
                       double seconds) {
    const core::CommGroup& group = program.groups[collective.group];
    row("communicator", fmt::format("{}, {} ranks", group.name, group.size));
    if (seconds > 0 && group.size > 1)
      row("bus bandwidth",
          fmt::format("{:.1f} GB/s", bytes / seconds * busFactor(collective.kind, group.size) / 1e9));
    if (network_ == nullptr) return;
    for (auto& [name, value] : modelRows(*network_, program, collective, seconds))
      row(std::move(name), std::move(value));
  }

  void writeTensors(const core::StepProgram& program, core::Index unit) {
    if (unit == kNone || program.units[unit].tensorTable == kNone) return;
    const auto& table = program.tensorTables[program.units[unit].tensorTable];
    row("tensors", std::to_string(table.size()));
    for (const core::UnitTensor& tensor : table)
      out_.tensors.push_back(
          fmt::format("{} ({} elements)", tensor.name, core::formatCount(tensor.elements)));
  }

  void writeRelease(const StepGraph& graph, const core::Slice& slice) {
    const auto predecessors = graph.predecessors(slice_);
    Picoseconds ready = 0;
    if (!predecessors.empty()) {
      out_.releasedBy = predecessors.front();
      ready = laneOf(data_, out_.releasedBy).end[static_cast<std::size_t>(out_.releasedBy.slice)];
      out_.releasedByName = data_.sliceName(out_.releasedBy.lane, out_.releasedBy.slice);
    }
    const Picoseconds possible = std::max(ready, slice.issued);
    std::string reason =
        slice.issued >= ready ? "the host had not issued it" : "it waited for " + out_.releasedByName;
    if (slice.begin > possible)
      reason += fmt::format(", then {} for {}", timeText(slice.begin - possible),
                            isCommunication(kind_) ? "the other ranks" : "the device");
    row("why it began then", reason);
  }

  const TimelineData& data_;
  SliceRef slice_;
  const sim::CollectiveModel* network_;
  Picoseconds begin_ = 0, end_ = 0;
  SliceClass kind_ = SliceClass::forward;
  std::uint32_t instruction_ = 0;
  SliceDetails out_;
};

}  // namespace

SliceDetails sliceDetails(const TimelineData& data, const StepGraph* graph, SliceRef slice,
                          const PredictedSlices* predicted, const sim::CollectiveModel* network) {
  if (slice.lane < 0 || static_cast<std::size_t>(slice.lane) >= data.lanes.size() || slice.slice < 0 ||
      static_cast<std::size_t>(slice.slice) >= laneOf(data, slice).size())
    return {};
  return Writer(data, slice, network).write(graph, predicted);
}

std::string sliceLine(const TimelineData& data, SliceRef slice) {
  const LaneColumns& lane = laneOf(data, slice);
  const auto i = static_cast<std::size_t>(slice.slice);
  std::string text =
      fmt::format("{} · {}", data.sliceName(slice.lane, slice.slice), timeText(lane.end[i] - lane.begin[i]));
  const auto bytes = data.log ? traces::sliceBytes(*data.log->program, lane.source[i]) : 0;
  if (bytes > 0) text += " · " + bytesText(static_cast<double>(bytes));
  return text;
}

std::string timeText(Picoseconds time) {
  const double value = static_cast<double>(time), size = std::abs(value);
  const auto text = [](double scaled, const char* unit) {
    const double digits = std::abs(scaled);
    return fmt::format("{:.{}f} {}", scaled,
                       digits >= 1000  ? 0
                       : digits >= 100 ? 1
                       : digits >= 10  ? 2
                                       : 3,
                       unit);
  };
  if (size >= 1e12) return text(value / 1e12, "s");
  if (size >= 1e9) return text(value / 1e9, "ms");
  if (size >= 1e6) return text(value / 1e6, "us");
  if (size >= 1e3) return text(value / 1e3, "ns");
  return fmt::format("{} ps", time);
}

}  // namespace vsim::gui
