#include "traces/chrome_trace.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "traces/slice_text.h"

namespace vsim::traces {
namespace {

using core::Index;
using core::InstructionKind;
using core::Picoseconds;

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Picoseconds as microseconds, all six decimals.
struct Microseconds {
  Picoseconds value;
};

/// Writes events one a line; all texts handed over are quoted already.
class EventWriter {
 public:
  std::string take() && { return std::move(out_) + "\n]}\n"; }

  template <class... T>
  void event(fmt::format_string<T...> format, T&&... values) {
    out_ += first_ ? "\n" : ",\n";
    first_ = false;
    fmt::format_to(std::back_inserter(out_), format, std::forward<T>(values)...);
  }
  void name(const char* what, std::size_t process, std::size_t thread, const std::string& text) {
    event(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", what, process, thread,
          quoted(text));
  }
  void order(std::size_t process, std::size_t thread) {
    event(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", process,
          thread, thread);
  }

  /// Arrows are numbered through the whole file.
  std::uint64_t newArrow() { return ++arrows_; }

 private:
  std::uint64_t arrows_ = 0;
  std::string out_ = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  bool first_ = true;
};

}  // namespace
}  // namespace vsim::traces

template <>
struct fmt::formatter<vsim::traces::Microseconds> {
  constexpr auto parse(format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(const vsim::traces::Microseconds& time, Context& context) const {
    const auto perMicrosecond = vsim::core::kPicosecondsPerMicrosecond;
    return fmt::format_to(context.out(), "{}.{:06}", time.value / perMicrosecond,
                          time.value % perMicrosecond);
  }
};

namespace vsim::traces {
namespace {

constexpr std::size_t kStepThread = 0;
std::size_t threadOf(core::StreamId stream) { return std::size_t{stream} + 1; }

/// Parts of an event that are the same for every slice of an instruction.
struct InstructionText {
  std::string name, arguments;
};

std::vector<InstructionText> instructionTexts(const core::StepProgram& program) {
  std::vector<InstructionText> texts(program.step.size());
  for (Index i = 0; i < program.step.size(); ++i) {
    const core::Instruction& instruction = program.step[i];
    const bool collective = instruction.kind == InstructionKind::collective;
    if (!collective && instruction.kind != InstructionKind::kernel) continue;
    texts[i].name = quoted(sliceName(program, i));
    std::string& arguments = texts[i].arguments;
    fmt::format_to(std::back_inserter(arguments), R"("phase":"{}","unit":{},"bytes":{})",
                   core::kPhaseNames[static_cast<std::size_t>(instruction.phase)],
                   quoted(sliceUnit(program, i)), sliceBytes(program, i));
    if (collective) {
      const core::CommGroup& group = program.groups[program.collectives[instruction.operand].group];
      fmt::format_to(std::back_inserter(arguments), R"(,"group":{},"ranks":{})", quoted(group.name),
                     group.size);
    } else if (const Index operation = program.kernels[instruction.operand].operation;
               operation != core::kNone && program.operations[operation].flops > 0) {
      fmt::format_to(std::back_inserter(arguments), R"(,"flops":{})", program.operations[operation].flops);
    }
  }
  return texts;
}

void writeSlices(EventWriter& writer, std::size_t process, const core::StepProgram& program,
                 const core::RankLog& ranks, const std::vector<InstructionText>& texts) {
  for (std::size_t step = 0; step < ranks.stepEnd.size(); ++step)
    writer.event(R"({{"ph":"X","name":"step {}","cat":"step","pid":{},"tid":{},"ts":{},"dur":{}}})", step,
                 process, kStepThread, Microseconds{ranks.stepBegin[step]},
                 Microseconds{ranks.stepEnd[step] - ranks.stepBegin[step]});
  for (const core::Slice& slice : ranks.slices) {
    const InstructionText& text = texts[slice.instruction];
    const bool collective = program.step[slice.instruction].kind == InstructionKind::collective;
    writer.event(
        R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{},"step":{},"provenance":"{}"}}}})",
        text.name, collective ? "collective" : "kernel", process, threadOf(slice.stream),
        Microseconds{slice.begin}, Microseconds{slice.end - slice.begin}, text.arguments, slice.step,
        core::name(slice.provenance));
  }
}

void writeMemory(EventWriter& writer, std::size_t process, const core::RankLog& ranks) {
  for (const core::MemoryEvent& event : ranks.memory)
    writer.event(
        R"({{"ph":"C","name":"memory","pid":{},"tid":0,"ts":{},"args":{{"allocated":{},"reserved":{}}}}})",
        process, Microseconds{event.time}, event.allocated, event.reserved);
}

/// Follows the step's waits: from the last slice in front of what is waited for to the first one behind the
/// wait. Arrows inside one stream say nothing new and are left out.
class ArrowWriter {
 public:
  ArrowWriter(EventWriter& writer, std::size_t process, const core::StepProgram& program)
      : writer_(writer), process_(process), program_(program) {}

  void writeStep(const std::map<Index, const core::Slice*>& slices) {
    last_.assign(program_.streams.size(), nullptr);
    waiting_.assign(program_.streams.size(), {});
    recorded_.assign(program_.events, nullptr);
    for (Index i = 0; i < program_.step.size(); ++i) {
      const core::Instruction& instruction = program_.step[i];
      switch (instruction.kind) {
        case InstructionKind::recordEvent:
          recorded_[instruction.operand] = last_[instruction.stream];
          break;
        case InstructionKind::waitEvent:
          wait(instruction.stream, recorded_[instruction.operand]);
          break;
        case InstructionKind::waitStream:
          wait(instruction.stream, last_[instruction.operand]);
          break;
        case InstructionKind::kernel:
        case InstructionKind::collective:
          if (const auto found = slices.find(i); found != slices.end()) launch(*found->second);
          break;
        default:
          break;
      }
    }
  }

 private:
  void wait(core::StreamId stream, const core::Slice* source) {
    if (source != nullptr && source->stream != stream) waiting_[stream].push_back(source);
  }
  void launch(const core::Slice& slice) {
    for (const core::Slice* source : waiting_[slice.stream]) {
      const std::uint64_t id = writer_.newArrow();
      writer_.event(R"({{"ph":"s","name":"wait","cat":"wait","id":{},"pid":{},"tid":{},"ts":{}}})", id,
                    process_, threadOf(source->stream), Microseconds{source->begin});
      writer_.event(R"({{"ph":"f","bp":"e","name":"wait","cat":"wait","id":{},"pid":{},"tid":{},"ts":{}}})",
                    id, process_, threadOf(slice.stream), Microseconds{slice.begin});
    }
    waiting_[slice.stream].clear();
    last_[slice.stream] = &slice;
  }

  EventWriter& writer_;
  std::size_t process_;
  const core::StepProgram& program_;
  std::vector<const core::Slice*> last_, recorded_;
  std::vector<std::vector<const core::Slice*>> waiting_;
};

void writeArrows(EventWriter& writer, std::size_t process, const core::StepProgram& program,
                 const core::RankLog& ranks) {
  std::map<int, std::map<Index, const core::Slice*>> steps;
  for (const core::Slice& slice : ranks.slices) steps[slice.step].emplace(slice.instruction, &slice);
  ArrowWriter arrows(writer, process, program);
  for (const auto& [step, slices] : steps) arrows.writeStep(slices);
}

void writeRanks(EventWriter& writer, std::size_t process, const TraceSource& source,
                const core::RankLog& ranks, const std::vector<InstructionText>& texts) {
  const core::StepProgram& program = *source.log->program;
  writer.name(
      "process_name", process, 0,
      fmt::format("{}: {} ({} ranks, first {})", source.title, ranks.name, ranks.ranks, ranks.firstRank));
  writer.name("thread_name", process, kStepThread, "steps");
  writer.order(process, kStepThread);
  for (std::size_t i = 0; i < program.streams.size(); ++i) {
    const std::size_t thread = threadOf(static_cast<core::StreamId>(i));
    writer.name("thread_name", process, thread, "stream " + program.streams[i]);
    writer.order(process, thread);
  }
  writeSlices(writer, process, program, ranks, texts);
  writeArrows(writer, process, program, ranks);
  writeMemory(writer, process, ranks);
}

}  // namespace

std::string chromeTrace(std::span<const TraceSource> sources) {
  EventWriter writer;
  std::size_t process = 0;
  for (const TraceSource& source : sources) {
    const std::vector<InstructionText> texts = instructionTexts(*source.log->program);
    for (const core::RankLog& ranks : source.log->ranks) writeRanks(writer, process++, source, ranks, texts);
  }
  return std::move(writer).take();
}

}  // namespace vsim::traces
