#include "gui/view/sweep/stored_points.h"

#include <fmt/format.h>

#include <vector>

#include "traces/run_store.h"

namespace vsim::gui {

StoredPoints storedPoints(const std::string& path, std::int64_t most,
                          const std::function<bool()>& cancelled) {
  StoredPoints result;
  if (path.empty()) {
    result.remark = "no run store is open";
    return result;
  }
  auto store = traces::RunStore::open(path, traces::RunStore::Access::readOnly);
  if (!store) {
    result.remark = store.error().text();
    return result;
  }
  const auto rows = store->list(most);
  if (!rows) {
    result.remark = rows.error().text();
    return result;
  }
  std::vector<traces::StoredRun> runs;
  std::size_t broken = 0;
  std::int64_t last = 0;
  for (const traces::RunSummary& row : *rows) {
    if (cancelled && cancelled()) return result;
    if (row.calibration || row.id == last) continue;
    last = row.id;
    auto run = store->load(row.id);
    if (run)
      runs.push_back(std::move(*run));
    else
      ++broken;
  }
  std::vector<SweepSource> sources;
  for (const traces::StoredRun& run : runs)
    sources.push_back({fmt::format("run {}", run.id), run.id, run.reports});
  result.data = sweepOf(sources);
  if (broken > 0) result.remark = fmt::format("{} stored runs cannot be read", broken);
  if (rows->size() >= static_cast<std::size_t>(most)) {
    if (!result.remark.empty()) result.remark += "; ";
    result.remark += "older runs are not shown";
  }
  return result;
}

}  // namespace vsim::gui
