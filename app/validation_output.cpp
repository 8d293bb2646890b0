#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "app/validate_kernels.h"

namespace vsim::app {
namespace {

void appendGroup(std::string& out, const ValidatedGroup& group) {
  out += fmt::format("{:<52} {:>5} {:>7.1f} % {:>7.1f} % {:>+7.1f} % {:>8.1f} %\n", group.name, group.rows,
                     group.mae * 100, group.medianError * 100, group.bias * 100, group.naiveMae * 100);
}

std::string heading(std::string_view what) {
  return fmt::format("{:<52} {:>5} {:>9} {:>9} {:>9} {:>10}\n", what, "rows", "mean", "median", "bias",
                     "naive");
}

}  // namespace

std::string validationText(const ValidationReport& report, std::size_t worstRows) {
  // Kernel tables hold times, run tables rates; see ValidationReport::quantity.
  const bool kernels = report.quantity == "time_us";
  const char* const unit = kernels ? "us" : "tokens/s/GPU";
  std::string out = heading(kernels ? "operation, type, GPU" : "GPU, model");
  for (const ValidatedGroup& group : report.groupsByGpu) appendGroup(out, group);
  out += "\n" + heading(kernels ? "operation" : "framework");
  for (const ValidatedGroup& group : report.groups) appendGroup(out, group);
  out += fmt::format("\n{} rows predicted: mean error {:.1f} %, bias {:+.1f} %; {}: {:.1f} %\n", report.rows,
                     report.mae * 100, report.bias * 100,
                     kernels ? "a constant fraction of peak per family" : "one constant HFU per GPU",
                     report.naiveMae * 100);

  std::map<std::string, std::size_t> reasons;
  std::vector<const ValidatedRow*> worst;
  for (const ValidatedRow& row : report.details) {
    if (row.reasonSkipped.empty())
      worst.push_back(&row);
    else
      ++reasons[row.reasonSkipped];
  }
  if (report.skipped > 0) out += fmt::format("{} rows skipped:\n", report.skipped);
  for (const auto& [reason, count] : reasons) out += fmt::format("  {:>5}  {}\n", count, reason);
  std::stable_sort(worst.begin(), worst.end(), [](const ValidatedRow* a, const ValidatedRow* b) {
    return std::abs(std::log1p(a->error)) > std::abs(std::log1p(b->error));
  });
  worst.resize(std::min(worst.size(), worstRows));
  if (!worst.empty()) out += "\nworst rows\n";
  for (const ValidatedRow* row : worst)
    out +=
        fmt::format("  {:<8} {:<22} {:<9} {:<16} measured {:>11.2f} {}, predicted {:>11.2f} {} ({:+.0f} %)\n",
                    row->id, kernels ? row->group : row->group.substr(0, 22), row->format, row->gpu,
                    row->measured, unit, row->predicted, unit, row->error * 100);
  return out;
}

std::string validationJson(const ValidationReport& report) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["summary"] = {{"rows", report.rows},
                     {"skipped", report.skipped},
                     {"mae", report.mae},
                     {"bias", report.bias},
                     {"naive_mae", report.naiveMae}};
  json["groups"] = Json::array();
  for (const ValidatedGroup& group : report.groups)
    json["groups"].push_back(
        {{"group", group.name}, {"rows", group.rows}, {"mae", group.mae}, {"naive_mae", group.naiveMae}});
  json["rows"] = Json::array();
  for (const ValidatedRow& row : report.details) {
    const bool skipped = !row.reasonSkipped.empty();
    Json& entry = json["rows"].emplace_back();
    entry["row_id"] = row.id;
    entry["group"] = row.group;
    entry["quantity"] = report.quantity;
    entry["measured"] = row.measured > 0 ? Json(row.measured) : Json(nullptr);
    entry["predicted"] = skipped ? Json(nullptr) : Json(row.predicted);
    entry["error"] = skipped ? Json(nullptr) : Json(row.error);
    entry["reason_skipped"] = skipped ? Json(row.reasonSkipped) : Json(nullptr);
  }
  // Invalid UTF-8 in identifiers is replaced, so that the output is always JSON.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace vsim::app
