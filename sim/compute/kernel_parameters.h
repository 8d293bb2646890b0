#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace vsim::sim {

/// Parameters of dense matrix products of one GPU family and number format. Symbols as in gemm_time.h.
struct GemmParameters {
  double efficiency = 0.85;     // share of the tensor peak that an endless main loop reaches
  double kOverhead = 130;       // prologue and epilogue of a tile, as extra k
  double waveRounding = 0.5;    // 1: whole waves of tiles, 0: perfectly balanced tiles
  double powerDroop = 0.08;     // slow-down per decade of FLOP
  double floorUs = 2.5;         // launch and drain inside a graph
  double hbmEfficiency = 0.75;  // share of HBM peak for operands and output
  double tile128x128 = 0.92;    // rate of smaller tiles relative to 128x256
  double tile64x256 = 0.88;
  double tile64x128 = 0.76;
  double splitOverhead = 160;  // extra k of a tile that shares its k with others
  double quantizeFloorUs = 0;  // launch and drain of the quantisation kernels
  double hostFloorUs = 60;     // host time of an eager call, when nothing hides it
  double quantizePasses = 0;   // fp8, fp4: passes over 3 bytes per activation element at HBM peak
};

/// Parameters of fused attention of one GPU family and direction. Symbols as in attention_time.h.
struct AttentionParameters {
  double efficiency = 0.75;
  double softmaxCost = 90;  // softmax work, as extra head size
  double waveRounding = 0.6;
  double prologue = 300;  // start and end of a tile, as extra keys (queries in backward)
  double floorUs = 12;
  double powerDroop = 0.05;
  double hbmEfficiency = 0.8;
  double windowOverhead = 0;   // extra blocks of 128 per tile in a banded mask
  double deterministic = 0.2;  // slow-down of the deterministic backward
};

/// Parameters of grouped products and of whole expert layers (gate-up, activation, down, permutation).
struct GroupedParameters {
  double efficiency = 0.85;
  double kOverhead = 130;
  double waveRounding = 0.5;
  double powerDroop = 0.05;
  double floorUs = 12;          // one grouped product
  double fusedFloorUs = 24;     // whole expert layer: sort, permutation and two products
  double hbmEfficiency = 0.75;  // reading the weights of the active experts
  double permutePasses = 2.5;   // passes over the permuted and intermediate activations at HBM peak
  double tile128x128 = 0.9;
  double tile64 = 0.7;        // tiles with 64 rows
  double quantizePasses = 0;  // extra passes over fp8 activations
};

/// Parameters of kernels bound by HBM traffic, of one GPU family.
struct MemoryParameters {
  double efficiency = 0.75;     // of HBM peak, for a typical kernel
  double sizeRamp = 0;          // large kernels only: efficiency * exp(-ramp / (1 + bytes / 1e9))
  double cacheFactor = 1;       // speed-up of traffic that fits the L2 cache
  double floorUs = 1.5;         // inside a graph or as a profiler sees it
  double benchmarkFloorUs = 7;  // a single kernel between two host events
  double eagerFloorUs = 14;     // an eager framework call between two host events
};

/// Multipliers by name ("cudnn", "rms_norm_fwd|liger"); sorted by name.
class Rates {
 public:
  /// Null when the name is unknown.
  [[nodiscard]] const double* find(std::string_view name) const;
  [[nodiscard]] double valueOr(std::string_view name, double fallback) const;
  /// The entry called `name`, added with value 1 when it is new. Adding moves the entries.
  double& at(std::string_view name);
  [[nodiscard]] const std::vector<std::pair<std::string, double>>& entries() const { return entries_; }

  std::string source;  // what they rest on; only for rates shared by several blocks

 private:
  std::vector<std::pair<std::string, double>> entries_;
};

/// One set of parameters with what it rests on.
template <class Values>
struct ParameterBlock {
  Values values{};
  Rates rates;                 // by library or source of the kernel; unknown: 1
  double relativeError = 0.2;  // mean absolute error on shapes that the fit did not see
  std::string source;
};

/// Everything the kernel model needs, by key: "A100 bf16" (gemm, grouped), "H100 forward" (attention), "B200"
/// (memory).
struct KernelParameters {
  std::map<std::string, ParameterBlock<GemmParameters>, std::less<>> gemm;
  std::map<std::string, ParameterBlock<AttentionParameters>, std::less<>> attention;
  std::map<std::string, ParameterBlock<GroupedParameters>, std::less<>> grouped;
  std::map<std::string, ParameterBlock<MemoryParameters>, std::less<>> memory;
  /// Rates of a library or source on every board; a block's own rates multiply them.
  Rates gemmRates, attentionRates, groupedRates;
  /// Efficiency of memory-bound kernels relative to their family, from the general to the special:
  /// "class|norm_fwd", "library|liger", "rms_norm_fwd", "rms_norm_fwd|liger", "rms_norm_fwd|liger|bf16|B200",
  /// and by row width "width|rms_norm|9" (2^9 <= columns < 2^10).
  Rates memoryRates;
};

/// A named parameter: where it lives, where a fit starts, how far it may stray (spread: standard deviation of
/// the weak prior, as a factor when `logarithmic`, else absolute) and the bounds that a file must respect.
template <class Values>
struct ParameterField {
  std::string_view name;
  double Values::*member;
  bool logarithmic;
  double start, spread, lower, upper;
};
template <class Values>
std::span<const ParameterField<Values>> parameterFields();
template <>
std::span<const ParameterField<GemmParameters>> parameterFields();
template <>
std::span<const ParameterField<AttentionParameters>> parameterFields();
template <>
std::span<const ParameterField<GroupedParameters>> parameterFields();
template <>
std::span<const ParameterField<MemoryParameters>> parameterFields();

/// Parameters from the text of a parameter file; `name` is for messages. Errors: unknown section or
/// parameter, malformed number, value out of bounds, each with line and column; the first is returned.
core::Result<KernelParameters> parseKernelParameters(std::string_view text, const std::string& name);
/// The same file format, written: reading it back gives the same parameters to six digits.
std::string writeKernelParameters(const KernelParameters& parameters, std::string_view comment);
/// Text of the parameter file that was compiled in.
std::string_view bundledKernelParameters();

}  // namespace vsim::sim
