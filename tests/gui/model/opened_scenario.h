#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "gui/model/open_run.h"
#include "tests/folders.h"

namespace vsim::test {

using Overrides = std::vector<std::pair<std::string, std::string>>;

/// A bundled scenario, simulated; each combination once a program.
inline std::shared_ptr<const gui::OpenedRun> openScenario(const std::string& name,
                                                          const Overrides& overrides = {}) {
  static std::map<std::pair<std::string, Overrides>, std::shared_ptr<const gui::OpenedRun>> kept;
  auto& run = kept[{name, overrides}];
  if (run) return run;
  auto opened = gui::openRun({.kind = gui::RunSource::Kind::scenario,
                              .path = std::string(VSIM_SOURCE_DIR) + "/scenarios/" + name + ".yaml",
                              .overrides = overrides},
                             {}, {});
  if (!opened) throw std::runtime_error(core::text(opened.error()));
  run = std::move(*opened);
  return run;
}

/// A run of reports that were made up: figures without logs.
inline gui::OpenedRun madeUpRun(std::vector<core::RunReport> reports) {
  gui::OpenedRun run;
  run.title = "made up";
  run.scenario = "made_up";
  run.logs.resize(reports.size());
  run.reports = std::move(reports);
  return run;
}

}  // namespace vsim::test
