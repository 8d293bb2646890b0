#pragma once

#include <span>
#include <string>

#include "core/program/execution_log.h"

namespace vsim::traces {

struct TraceSource {
  std::string title;  // "vescale", or with the sweep point
  const core::ExecutionLog* log = nullptr;
};

/// Trace Event Format JSON, as Perfetto and chrome://tracing read it. One process per log and class of ranks;
/// one thread per stream and one for the steps; a complete event per slice with phase, unit, bytes and
/// provenance; arrows where a stream waits for work of another; a counter with allocated and reserved bytes.
/// Times are microseconds, exact to the picosecond.
[[nodiscard]] std::string chromeTrace(std::span<const TraceSource> sources);

}  // namespace vsim::traces
