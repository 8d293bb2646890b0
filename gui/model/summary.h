#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/model/data_table.h"
#include "gui/model/opened_run.h"

namespace vsim::gui {

/// Where a figure leads: a page, and the part of time to show there. Plain value.
struct Destination {
  std::string view;  // key of the page
  TimeRange zoom{};  // empty: as it is
};

struct SummaryFigure {
  std::string label, value, note;
  Destination to;
};

/// A part of a bar. What fills it: compute, exposed and waiting of a step, or a memory category.
struct SummaryPart {
  enum class Fill : std::uint8_t { compute, exposed, copies, waiting, memory, provenance };
  Fill fill = Fill::compute;
  core::MemoryCategory category{};  // memory
  std::size_t provenance = 0;       // core::Provenance
  std::string label, value;
  double amount = 0;  // seconds, bytes, share
  Destination to;
};

/// A phase: its parts sum to `seconds`.
struct SummaryPhase {
  std::string label;
  double seconds = 0;
  std::vector<SummaryPart> parts;
  Destination to;
};

struct SummaryCollective {
  std::vector<std::string> cells;  // by summaryCollectiveHeader
  double seconds = 0;
  Destination to;
};
inline constexpr const char* kSummaryCollectiveHeader[] = {"collective", "group",     "ranks", "count",
                                                           "bytes each", "time each", "busbw", "time"};

/// What the landing page shows of one report: the figures of `vsim run`, ready to be drawn.
struct Summary {
  std::string title;     // "moe_10k: vescale"
  std::string subtitle;  // GPUs, parameters, tokens
  std::string verdict;   // one sentence: fits or not, how fast
  bool completed = false, fits = false;
  std::vector<SummaryFigure> figures;
  double stepSeconds = 0;
  std::vector<SummaryPart> breakdown;  // sums to stepSeconds
  std::vector<SummaryPhase> phases;    // sum to stepSeconds
  std::vector<SummaryPart> memory;  // at the peak: categories in the allocator, what it holds besides, NCCL
  double capacityBytes = 0, reservedBytes = 0, allocatedBytes = 0;
  std::vector<SummaryPart> provenance;
  std::string errorText;  // "+- 3.2 %"; empty: not known
  std::vector<SummaryCollective> collectives;
  std::vector<std::string> notes;
};

/// Milliseconds. `report` must be one of the run's.
[[nodiscard]] Summary summaryOf(const OpenedRun& run, std::size_t report);
[[nodiscard]] DataTable tableOf(const Summary& summary);

}  // namespace vsim::gui
