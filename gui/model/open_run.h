#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "gui/model/opened_run.h"

namespace vsim::gui {

/// Where a run comes from. Plain value.
struct RunSource {
  enum class Kind : std::uint8_t { stored, scenario, trace };
  Kind kind = Kind::stored;
  std::string path;     // of the store, the scenario (or a bundled one's name), the trace
  std::int64_t id = 0;  // of a stored run
  int report = 0;       // the one to be shown first
  std::vector<std::pair<std::string, std::string>> overrides{};  // of a scenario: dotted key, value
  std::optional<std::string> text{};  // of a scenario: in place of what its file holds
  bool store = false;                 // the result of a scenario is kept in `storePath`
  std::string storePath{};
};

/// What a user's word means: a run's number, "last", "vsim://run/42?...", a trace (.json, .json.gz) or a
/// scenario, as file or by name. Errors: a number that is none, a file that is not there.
[[nodiscard]] core::Result<RunSource> sourceOf(const std::string& word, const std::string& storePath);

/// The file is a database, as run stores are: not a scenario and not a trace. Looks at its first bytes alone.
[[nodiscard]] bool isDatabase(const std::string& path);

/// "run 42 in /home/me/runs.sqlite": what OpenedRun::source says of a stored run.
[[nodiscard]] std::string storedSource(std::int64_t id, const std::string& store);

/// Called with what is being done and how much of it, 0 to 1, on the thread that opens.
using OpenProgress = std::function<void(const std::string& what, double fraction)>;
/// Asked now and then; true ends the work with the error "cancelled".
using OpenCancelled = std::function<bool()>;

/// Called at most once, before the run is complete: with all that is known before its logs are read
/// (`loading`).
using OpenPreview = std::function<void(std::shared_ptr<const OpenedRun>)>;

/// Loads or simulates. Takes from milliseconds to minutes: for background threads. The functions may be
/// empty; `preview` is called for stored runs of which the first picture is stored, too. Errors: the store's,
/// the scenario's with line and column, the trace's.
[[nodiscard]] core::ResultAll<std::shared_ptr<const OpenedRun>> openRun(const RunSource& source,
                                                                        const OpenProgress& progress,
                                                                        const OpenCancelled& cancelled,
                                                                        const OpenPreview& preview = {});

}  // namespace vsim::gui
