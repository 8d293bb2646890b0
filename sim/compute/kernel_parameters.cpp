#include "sim/compute/kernel_parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace vsim::sim {
namespace {

template <class Values>
using Blocks = std::map<std::string, ParameterBlock<Values>, std::less<>>;

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Reads the file line by line; a line is "[kind key]", "name = value" or a comment.
class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  core::Result<KernelParameters> read() {
    while (position_ < text_.size() && !error_) {
      const auto end = std::min(text_.find('\n', position_), text_.size());
      line_ = text_.substr(position_, end - position_);
      position_ = end + 1;
      ++lineNumber_;
      const std::string_view content = trim(line_);
      if (content.empty() || content[0] == '#') continue;
      content[0] == '[' ? readSection(content) : readEntry(content);
    }
    if (error_) return tl::unexpected(*error_);
    return std::move(parameters_);
  }

 private:
  void report(std::string_view at, std::string message, std::string hint = {}) {
    const auto column = at.data() >= line_.data() ? static_cast<int>(at.data() - line_.data()) + 1 : 1;
    error_ = core::Error{.message = std::move(message),
                         .file = file_,
                         .line = lineNumber_,
                         .column = column,
                         .hint = std::move(hint)};
  }

  void readSection(std::string_view content) {
    if (content.back() != ']') return report(content, "section header without closing bracket");
    const std::string_view inner = trim(content.substr(1, content.size() - 2));
    const auto space = inner.find(' ');
    kind_ = std::string(inner.substr(0, space));
    key_ = space == std::string_view::npos ? std::string() : std::string(trim(inner.substr(space)));
    static const std::vector<std::string> kinds{"gemm",          "attention",   "grouped",
                                                "memory",        "gemm_rates",  "attention_rates",
                                                "grouped_rates", "memory_rates"};
    if (std::find(kinds.begin(), kinds.end(), kind_) == kinds.end()) {
      const std::string near = core::nearest(kind_, kinds);
      return report(inner, fmt::format("unknown section '{}'", kind_),
                    near.empty() ? fmt::format("known: {}", fmt::join(kinds, ", "))
                                 : fmt::format("did you mean '{}'?", near));
    }
    if (key_.empty() != kind_.ends_with("_rates"))
      report(inner, fmt::format("section '{}' {} a family", kind_, key_.empty() ? "needs" : "takes no"));
  }

  void readEntry(std::string_view content) {
    if (kind_.empty()) return report(content, "entry before the first section");
    // Names of rates are quoted and may contain '='.
    const auto nameEnd = content.starts_with("rate \"") ? content.find('"', 6) : std::size_t{0};
    const auto equals = nameEnd == std::string_view::npos ? nameEnd : content.find('=', nameEnd);
    if (equals == std::string_view::npos) return report(content, "expected 'name = value'");
    const std::string_view name = trim(content.substr(0, equals));
    const std::string_view value = trim(content.substr(equals + 1));
    if (name == "source") return readSource(value);
    double number = 0;
    const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (code != std::errc{} || end != value.data() + value.size() || !std::isfinite(number))
      return report(value.empty() ? content : value, fmt::format("'{}' is not a number", value));
    if (nameEnd != 0) return readRate(name, content.substr(6, nameEnd - 6), number);
    if (kind_ == "gemm") return readValue(parameters_.gemm[key_], name, value, number);
    if (kind_ == "attention") return readValue(parameters_.attention[key_], name, value, number);
    if (kind_ == "grouped") return readValue(parameters_.grouped[key_], name, value, number);
    if (kind_ == "memory") return readValue(parameters_.memory[key_], name, value, number);
    report(name, fmt::format("'{}' does not belong into section {}", name, kind_));
  }

  void readSource(std::string_view value) {
    if (value.size() < 2 || value.front() != '"' || value.back() != '"')
      return report(value, "source must be in double quotes");
    std::string text(value.substr(1, value.size() - 2));
    if (kind_ == "gemm")
      parameters_.gemm[key_].source = std::move(text);
    else if (kind_ == "attention")
      parameters_.attention[key_].source = std::move(text);
    else if (kind_ == "grouped")
      parameters_.grouped[key_].source = std::move(text);
    else if (kind_ == "memory")
      parameters_.memory[key_].source = std::move(text);
    else
      currentRates().source = std::move(text);
  }

  Rates& currentRates() {
    if (kind_ == "gemm") return parameters_.gemm[key_].rates;
    if (kind_ == "attention") return parameters_.attention[key_].rates;
    if (kind_ == "grouped") return parameters_.grouped[key_].rates;
    if (kind_ == "memory") return parameters_.memory[key_].rates;
    if (kind_ == "gemm_rates") return parameters_.gemmRates;
    if (kind_ == "attention_rates") return parameters_.attentionRates;
    if (kind_ == "grouped_rates") return parameters_.groupedRates;
    return parameters_.memoryRates;
  }

  void readRate(std::string_view at, std::string_view name, double value) {
    if (!(value >= 1e-3 && value <= 1e3)) return report(at, "a rate must be between 0.001 and 1000");
    currentRates().at(name) = value;
  }

  template <class Values>
  void readValue(ParameterBlock<Values>& block, std::string_view name, std::string_view at, double value) {
    if (name == "relative_error") {
      if (!(value >= 0 && value <= 10)) return report(at, "relative_error must be between 0 and 10");
      block.relativeError = value;
      return;
    }
    std::vector<std::string> known{"relative_error", "source"};
    for (const auto& field : parameterFields<Values>()) {
      known.emplace_back(field.name);
      if (field.name != name) continue;
      if (!(value >= field.lower && value <= field.upper))
        return report(at, fmt::format("{} must be between {} and {}", name, field.lower, field.upper));
      block.values.*field.member = value;
      return;
    }
    const std::string near = core::nearest(std::string(name), known);
    report(name, fmt::format("unknown parameter '{}'", name),
           near.empty() ? std::string() : fmt::format("did you mean '{}'?", near));
  }

  std::string_view text_, line_;
  const std::string& file_;
  std::size_t position_ = 0;
  int lineNumber_ = 0;
  std::string kind_, key_;
  KernelParameters parameters_;
  std::optional<core::Error> error_;
};

void writeRates(std::string& out, const Rates& rates) {
  for (const auto& [name, value] : rates.entries()) out += fmt::format("rate \"{}\" = {:.4g}\n", name, value);
}

template <class Values>
void writeBlocks(std::string& out, std::string_view kind, const Blocks<Values>& blocks) {
  for (const auto& [key, block] : blocks) {
    out += fmt::format("\n[{} {}]\nsource = \"{}\"\nrelative_error = {:.3g}\n", kind, key, block.source,
                       block.relativeError);
    for (const auto& field : parameterFields<Values>())
      out += fmt::format("{} = {:.6g}\n", field.name, block.values.*field.member);
    writeRates(out, block.rates);
  }
}

}  // namespace

template <>
std::span<const ParameterField<GemmParameters>> parameterFields() {
  using P = GemmParameters;
  static constexpr std::array<ParameterField<P>, 13> fields{{
      {"efficiency", &P::efficiency, true, 0.82, 0.3, 0.02, 1.0},
      {"k_overhead", &P::kOverhead, true, 130, 0.8, 1, 3000},
      {"wave_rounding", &P::waveRounding, false, 0.4, 0.3, 0, 1},
      {"power_droop", &P::powerDroop, false, 0.08, 0.03, 0, 0.5},
      {"floor_us", &P::floorUs, true, 2.5, 0.4, 0.3, 60},
      {"hbm_efficiency", &P::hbmEfficiency, true, 0.75, 0.15, 0.1, 0.98},
      {"tile_128x128", &P::tile128x128, true, 0.92, 0.06, 0.3, 1},
      {"tile_64x256", &P::tile64x256, true, 0.88, 0.08, 0.3, 1},
      {"tile_64x128", &P::tile64x128, true, 0.76, 0.08, 0.3, 1},
      {"split_overhead", &P::splitOverhead, true, 160, 0.5, 1, 3000},
      {"quantize_passes", &P::quantizePasses, false, 0, 0, 0, 20},
      {"quantize_floor_us", &P::quantizeFloorUs, false, 0, 0, 0, 100},
      {"host_floor_us", &P::hostFloorUs, true, 60, 0, 1, 1000},
  }};
  return fields;
}

template <>
std::span<const ParameterField<AttentionParameters>> parameterFields() {
  using P = AttentionParameters;
  static constexpr std::array<ParameterField<P>, 9> fields{{
      {"efficiency", &P::efficiency, true, 0.75, 0.4, 0.02, 1.5},
      {"softmax_cost", &P::softmaxCost, false, 80, 60, 0, 600},
      {"wave_rounding", &P::waveRounding, false, 0.6, 0.3, 0, 1},
      {"prologue", &P::prologue, true, 250, 1.0, 1, 2000},
      {"floor_us", &P::floorUs, true, 12, 0.7, 0.5, 100},
      {"power_droop", &P::powerDroop, false, 0.05, 0.02, 0, 0.5},
      {"hbm_efficiency", &P::hbmEfficiency, true, 0.8, 0.2, 0.1, 1},
      {"window_overhead", &P::windowOverhead, false, 0.5, 0.5, 0, 8},
      {"deterministic", &P::deterministic, false, 0.2, 0.2, 0, 2},
  }};
  return fields;
}

template <>
std::span<const ParameterField<GroupedParameters>> parameterFields() {
  using P = GroupedParameters;
  static constexpr std::array<ParameterField<P>, 11> fields{{
      {"efficiency", &P::efficiency, true, 0.8, 0.3, 0.02, 1.3},
      {"k_overhead", &P::kOverhead, true, 150, 0.8, 1, 3000},
      {"wave_rounding", &P::waveRounding, false, 0.4, 0.3, 0, 1},
      {"power_droop", &P::powerDroop, false, 0.05, 0.03, 0, 0.5},
      {"floor_us", &P::floorUs, true, 8, 0.7, 0.3, 200},
      {"fused_floor_us", &P::fusedFloorUs, true, 22, 0.5, 0.3, 400},
      {"hbm_efficiency", &P::hbmEfficiency, true, 0.75, 0.15, 0.1, 0.98},
      {"permute_passes", &P::permutePasses, true, 2.5, 0.5, 0.05, 20},
      {"tile_128x128", &P::tile128x128, true, 0.9, 0.06, 0.3, 1},
      {"tile_64", &P::tile64, true, 0.72, 0.15, 0.2, 1},
      {"quantize_passes", &P::quantizePasses, false, 0, 0, 0, 20},
  }};
  return fields;
}

template <>
std::span<const ParameterField<MemoryParameters>> parameterFields() {
  using P = MemoryParameters;
  static constexpr std::array<ParameterField<P>, 6> fields{{
      {"efficiency", &P::efficiency, true, 0.75, 0.15, 0.05, 1},
      {"size_ramp", &P::sizeRamp, false, 0.05, 0.1, 0, 3},
      {"cache_factor", &P::cacheFactor, true, 1.05, 0.15, 0.3, 4},
      {"floor_us", &P::floorUs, true, 1.5, 0.3, 0.2, 20},
      {"benchmark_floor_us", &P::benchmarkFloorUs, true, 7, 0.4, 0.5, 60},
      {"eager_floor_us", &P::eagerFloorUs, true, 14, 0.3, 0.5, 60},
  }};
  return fields;
}

const double* Rates::find(std::string_view name) const {
  const auto it = std::lower_bound(entries_.begin(), entries_.end(), name,
                                   [](const auto& entry, std::string_view key) { return entry.first < key; });
  return it != entries_.end() && it->first == name ? &it->second : nullptr;
}

double Rates::valueOr(std::string_view name, double fallback) const {
  const double* value = find(name);
  return value ? *value : fallback;
}

double& Rates::at(std::string_view name) {
  const auto it = std::lower_bound(entries_.begin(), entries_.end(), name,
                                   [](const auto& entry, std::string_view key) { return entry.first < key; });
  if (it != entries_.end() && it->first == name) return it->second;
  return entries_.emplace(it, std::string(name), 1.0)->second;
}

core::Result<KernelParameters> parseKernelParameters(std::string_view text, const std::string& name) {
  return Reader(text, name).read();
}

std::string writeKernelParameters(const KernelParameters& parameters, std::string_view comment) {
  std::string out(comment);
  writeBlocks(out, "gemm", parameters.gemm);
  writeBlocks(out, "attention", parameters.attention);
  writeBlocks(out, "grouped", parameters.grouped);
  writeBlocks(out, "memory", parameters.memory);
  const auto writeShared = [&](std::string_view section, const Rates& rates) {
    out += fmt::format("\n[{}]\nsource = \"{}\"\n", section, rates.source);
    writeRates(out, rates);
  };
  writeShared("gemm_rates", parameters.gemmRates);
  writeShared("attention_rates", parameters.attentionRates);
  writeShared("grouped_rates", parameters.groupedRates);
  writeShared("memory_rates", parameters.memoryRates);
  return out;
}

}  // namespace vsim::sim
