#include <nlohmann/json.hpp>

#include "core/report/verdict.h"

namespace vsim::core {
namespace {

using Json = nlohmann::ordered_json;

Json figureJson(const VerdictFigure& figure) {
  const auto error = figure.error();
  return Json{{"measured", figure.measured},
              {"predicted", figure.predicted},
              {"error", error ? Json(*error) : Json(nullptr)}};
}

Json classJson(const VerdictClass& row) {
  Json json;
  json[row.group.empty() ? "name" : "kind"] = row.name;
  if (!row.group.empty()) {
    json["group"] = row.group;
    json["ranks"] = row.groupSize;
  }
  json["count"] = row.count;
  json["time_s"] = figureJson(row.seconds);
  return json;
}

Json partJson(const VerdictPart& part, double step) {
  return Json{{"kind", kPartNames[static_cast<std::size_t>(part.kind)]},
              {"name", part.name},
              {"measured_s", part.seconds.measured},
              {"predicted_s", part.seconds.predicted},
              {"difference_s", part.seconds.difference()},
              {"share_of_step", step > 0 ? part.seconds.difference() / step : 0.0}};
}

Json bytesJson(const VerdictFigure& figure) {
  Json json = figureJson(figure);
  json["measured"] = static_cast<std::int64_t>(figure.measured);
  json["predicted"] = static_cast<std::int64_t>(figure.predicted);
  return json;
}

Json verdictJson(const Verdict& v) {
  Json phases = Json::array(), collectives = Json::array(), kernels = Json::array(),
       contributors = Json::array();
  for (const VerdictPhase& row : v.phases)
    phases.push_back(
        {{"phase", kPhaseNames[static_cast<std::size_t>(row.phase)]}, {"time_s", figureJson(row.seconds)}});
  for (const VerdictClass& row : v.collectives) collectives.push_back(classJson(row));
  for (const VerdictClass& row : v.kernels) kernels.push_back(classJson(row));
  for (const VerdictPart& part : v.contributors)
    contributors.push_back(partJson(part, v.stepSeconds.measured));
  return Json{{"system", v.system},
              {"executor", v.executor},
              {"ranks", v.ranks},
              {"warmup", v.warmup},
              {"steps_s", v.measuredSteps},
              {"quartiles_s", Json::array({v.quartileLow, v.quartileHigh})},
              {"step_time_s", figureJson(v.stepSeconds)},
              {"compute_s", figureJson(v.computeSeconds)},
              {"exposed_comm_s", figureJson(v.exposedSeconds)},
              {"copies_s", figureJson(v.copySeconds)},
              {"host_bound_s", figureJson(v.hostBoundSeconds)},
              {"waits_s", figureJson(v.waitSeconds)},
              {"comm_s", figureJson(v.commSeconds)},
              {"peak_allocated_bytes", bytesJson(v.peakAllocated)},
              {"peak_reserved_bytes", bytesJson(v.peakReserved)},
              {"phases", std::move(phases)},
              {"collectives", std::move(collectives)},
              {"kernels", std::move(kernels)},
              {"contributors", std::move(contributors)}};
}

}  // namespace

std::string toJson(const std::vector<Verdict>& verdicts, const VerdictContext& context) {
  Json list = Json::array();
  for (const Verdict& verdict : verdicts) list.push_back(verdictJson(verdict));
  const Json document{{"scenario", verdicts.empty() ? std::string() : verdicts.front().scenario},
                      {"profile", context.profile},
                      {"notes", context.notes},
                      {"max_error", context.maxError ? Json(*context.maxError) : Json(nullptr)},
                      {"verdicts", std::move(list)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace vsim::core
