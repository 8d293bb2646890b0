#include "core/report/json.h"

#include <nlohmann/json.hpp>

namespace vsim::core {
namespace {

using Json = nlohmann::ordered_json;

Json timeOrNull(const RunReport& run, double value) { return run.completed ? Json(value) : Json(nullptr); }

/// "1024" -> 1024, "true" -> true, anything that is no JSON scalar stays text.
Json scalar(const std::string& text) {
  Json value = Json::parse(text, nullptr, false);
  return value.is_number() || value.is_boolean() ? value : Json(text);
}

template <std::size_t N, class T, std::size_t M>
Json named(const std::string_view (&names)[N], const std::array<T, M>& values) {
  static_assert(N == M);
  Json result = Json::object();
  for (std::size_t i = 0; i < N; ++i) result[std::string(names[i])] = values[i];
  return result;
}

Json provenanceJson(const RunReport& run) {
  Json result = Json::object();
  for (std::size_t i = 0; i < kProvenanceNames.size(); ++i)
    result[std::string(kProvenanceNames[i])] = run.provenance[i];
  return result;
}

Json resultJson(const RunReport& run) {
  Json overrides = Json::object();
  for (const auto& [key, value] : run.facts.overrides) overrides[key] = scalar(value);
  return Json{{"system", run.facts.system},
              {"gpus", run.facts.gpus},
              {"step_time_s", timeOrNull(run, run.stepSeconds)},
              {"tokens_per_s", timeOrNull(run, run.tokensPerSecond)},
              {"tokens_per_s_per_gpu", timeOrNull(run, run.tokensPerSecondPerGpu)},
              {"mfu", timeOrNull(run, run.mfu)},
              {"hfu", timeOrNull(run, run.hfu)},
              {"compute_s", timeOrNull(run, run.computeSeconds)},
              {"comm_s", timeOrNull(run, run.commSeconds)},
              {"exposed_comm_s", timeOrNull(run, run.exposedCommSeconds)},
              {"padding_ratio", run.facts.paddingRatio},
              {"peak_allocated_bytes", run.peakAllocated},
              {"peak_reserved_bytes", run.peakReserved},
              {"memory_by_category", named(kMemoryCategoryNames, run.memoryByCategory)},
              {"capacity_bytes", run.hardware.capacityBytes},
              {"fits", run.fits},
              {"provenance", provenanceJson(run)},
              {"overrides", std::move(overrides)},
              {"parameters", run.facts.parameters},
              {"simulated_ranks", run.facts.simulatedRanks},
              {"wall_s", run.facts.wallSeconds}};
}

// The complete form: one list of fields serves writing and reading.

struct Writer {
  Json& json;
  template <class T>
  void operator()(const char* key, const T& value) {
    json[key] = value;
  }
};
struct Reader {
  const Json& json;
  template <class T>
  void operator()(const char* key, T& value) {
    json.at(key).get_to(value);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& value) {
    const Json& found = json.at(key);
    if (!found.is_null()) value = found.template get<T>();
  }
};

template <class Archive, class Facts>
void fieldsOfFacts(Archive&& field, Facts& facts) {
  field("scenario", facts.scenario);
  field("system", facts.system);
  field("gpus", facts.gpus);
  field("tokens_per_step", facts.tokensPerStep);
  field("parameters", facts.parameters);
  field("active_parameters", facts.activeParameters);
  field("layers", facts.layers);
  field("heads", facts.heads);
  field("head_dim", facts.headDim);
  field("sequence", facts.sequence);
  field("recompute_flops_per_token", facts.recomputeFlopsPerToken);
  field("padding_ratio", facts.paddingRatio);
  field("simulated_ranks", facts.simulatedRanks);
  field("overrides", facts.overrides);
  field("wall_s", facts.wallSeconds);
}

template <class Archive, class Hardware>
void fieldsOfHardware(Archive&& field, Hardware& hardware) {
  field("gpu", hardware.gpu);
  field("peak_flops", hardware.peakFlops);
  field("capacity_bytes", hardware.capacityBytes);
  field("context_bytes", hardware.contextBytes);
  field("nccl_bytes", hardware.ncclBytes);
}

template <class Archive, class Row>
void fieldsOfPhase(Archive&& field, Row& row) {
  field("phase", row.phase);
  field("s", row.seconds);
  field("compute_s", row.computeSeconds);
  field("comm_s", row.commSeconds);
  field("exposed_s", row.exposedSeconds);
  field("idle_s", row.idleSeconds);
}

template <class Archive, class Row>
void fieldsOfCollective(Archive&& field, Row& row) {
  field("kind", row.kind);
  field("group", row.group);
  field("group_size", row.groupSize);
  field("count", row.count);
  field("bytes", row.bytes);
  field("s", row.seconds);
  field("bus_bandwidth", row.busBandwidth);
}

template <class Archive, class Run>
void fieldsOfRun(Archive&& field, Run& run) {
  field("completed", run.completed);
  field("step_s", run.stepSeconds);
  field("tokens_per_s", run.tokensPerSecond);
  field("tokens_per_s_per_gpu", run.tokensPerSecondPerGpu);
  field("mfu", run.mfu);
  field("hfu", run.hfu);
  field("compute_s", run.computeSeconds);
  field("comm_s", run.commSeconds);
  field("exposed_comm_s", run.exposedCommSeconds);
  field("bubble_s", run.bubbleSeconds);
  field("bubble_copies_s", run.bubbleCopiesSeconds);
  field("peak_allocated", run.peakAllocated);
  field("peak_reserved", run.peakReserved);
  field("memory_by_category", run.memoryByCategory);
  field("margin", run.marginBytes);
  field("fits", run.fits);
  field("out_of_memory", run.outOfMemory);
  field("out_of_memory_buffer", run.outOfMemoryBuffer);
  field("allocation_retries", run.allocationRetries);
  field("slowest_ranks", run.slowestRanks);
  field("worst_memory_ranks", run.worstMemoryRanks);
  field("provenance", run.provenance);
}

Json completeJson(const RunReport& run) {
  Json json = Json::object();
  fieldsOfRun(Writer{json}, run);
  json["relative_error"] = run.relativeError ? Json(*run.relativeError) : Json(nullptr);
  fieldsOfFacts(Writer{json["facts"]}, run.facts);
  fieldsOfHardware(Writer{json["hardware"]}, run.hardware);
  json["phases"] = Json::array();
  for (const PhaseRow& row : run.phases) fieldsOfPhase(Writer{json["phases"].emplace_back()}, row);
  json["collectives"] = Json::array();
  for (const CollectiveRow& row : run.collectives)
    fieldsOfCollective(Writer{json["collectives"].emplace_back()}, row);
  return json;
}

RunReport fromComplete(const Json& json) {
  RunReport run;
  fieldsOfRun(Reader{json}, run);
  Reader{json}("relative_error", run.relativeError);
  fieldsOfFacts(Reader{json.at("facts")}, run.facts);
  fieldsOfHardware(Reader{json.at("hardware")}, run.hardware);
  for (const Json& item : json.at("phases")) fieldsOfPhase(Reader{item}, run.phases.emplace_back());
  for (const Json& item : json.at("collectives"))
    fieldsOfCollective(Reader{item}, run.collectives.emplace_back());
  return run;
}

bool namesAreKnown(const RunReport& run) {
  for (const PhaseRow& row : run.phases)
    if (static_cast<std::size_t>(row.phase) >= std::size(kPhaseNames)) return false;
  for (const CollectiveRow& row : run.collectives)
    if (static_cast<std::size_t>(row.kind) >= std::size(kCollectiveNames)) return false;
  return true;
}

}  // namespace

std::string toJson(const std::string& scenario, std::span<const RunReport> runs) {
  Json list = Json::array();
  for (const RunReport& run : runs) list.push_back(resultJson(run));
  const Json document{{"scenario", scenario}, {"runs", std::move(list)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string toCompleteJson(std::span<const RunReport> runs) {
  Json list = Json::array();
  for (const RunReport& run : runs) list.push_back(completeJson(run));
  return Json{{"reports", std::move(list)}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::vector<RunReport>> reportsFromJson(std::string_view text) {
  try {
    std::vector<RunReport> runs;
    const Json document = Json::parse(text);
    for (const Json& item : document.at("reports")) {
      runs.push_back(fromComplete(item));
      if (!namesAreKnown(runs.back())) return fail("a stored report names an unknown phase or collective");
    }
    return runs;
  } catch (const Json::exception& problem) {
    return fail(std::string("a stored report cannot be read: ") + problem.what());
  }
}

}  // namespace vsim::core
