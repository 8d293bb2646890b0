#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/units.h"

namespace vsim::traces {

/// A complete event of a trace of any program.
struct ImportedSlice {
  std::uint32_t name = 0;                // into ImportedTrace::names
  std::uint8_t category = 0, phase = 0;  // into ImportedTrace::categories, ::phases; 0: ""
  core::Picoseconds begin = 0, end = 0;
};

/// A thread or stream: events in the file's order.
struct ImportedThread {
  std::string name;  // as named in the file, else "thread 7"
  std::string process;
  std::uint32_t processNumber = 0;  // threads of one process share it
  std::int64_t order = 0;           // as the file wants threads sorted
  std::vector<ImportedSlice> slices;
};

struct ImportedTrace {
  std::vector<ImportedThread> threads;                 // by process, order, first appearance
  std::vector<std::string> names, categories, phases;  // each text once
  std::int64_t otherEvents = 0;                        // counters, arrows, instants: not kept
  std::int64_t unfinished = 0;  // begun and never ended, or ended and never begun: left out
};

/// Reads Trace Event Format JSON (an object with "traceEvents", or the list alone), plain or gzip: what
/// `vsim run --trace` and PyTorch's profiler write. Complete events ("X") and pairs ("B", "E") become slices.
/// The file is streamed: memory is 32 bytes a slice plus each text once. Times are exact to the picosecond; a
/// trace whose clock counts from 1970 is moved to begin at 0.
///
/// `cancelled` is asked now and then, may be empty, and ends it with the error "cancelled". Errors: no such
/// file, no JSON (with the byte at which it broke off), no list of events, no slices, a time or length that
/// is no number, negative lengths, times further apart than 100 days.
[[nodiscard]] core::Result<ImportedTrace> importChromeTrace(const std::string& path,
                                                            const std::function<bool()>& cancelled = {});
/// The same from text; `name` stands in errors.
[[nodiscard]] core::Result<ImportedTrace> importChromeTraceText(std::string_view text,
                                                                const std::string& name);

}  // namespace vsim::traces
