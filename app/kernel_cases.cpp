#include "app/kernel_cases.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "sim/cluster/gpu_catalogue.h"
#include "sim/compute/kernel_lookup.h"

namespace vsim::app {
namespace {

double toDouble(std::int64_t value) { return static_cast<double>(value); }

struct Format {
  std::string_view name;    // as tables write it
  std::string_view family;  // whose parameters apply
  double operandBytes;
};
constexpr std::array<Format, 7> kFormats{{{"bf16", "bf16", 2},
                                          {"fp16", "bf16", 2},
                                          {"fp32", "fp32", 4},
                                          {"fp8", "fp8", 1},
                                          {"fp8_block", "fp8_block", 1},
                                          {"mxfp8", "mxfp8", 1},
                                          {"nvfp4", "nvfp4", 0.5}}};

const Format* findFormat(std::string_view name) {
  for (const Format& format : kFormats)
    if (format.name == name) return &format;
  return nullptr;
}

/// Builds the case of one row.
class Builder {
 public:
  Builder(const KernelRow& row, const core::GpuSpec& gpu, const Format& format)
      : row_(row), gpu_(gpu), format_(format) {
    case_.family = gpu.family;
    case_.op = row.op;
    case_.format = row.format;
    case_.source = sourceClass(row.source);
    case_.measured = row.timeUs * 1e-6;
    case_.shapeHash = row.shapeHash;
  }

  core::Result<KernelCase> build() {
    const std::string& op = row_.op;
    bool known = false;
    if (op == "gemm" || op == "quant_gemm_fp8")
      known = addProducts(1, row_.m, row_.n, row_.k, row_.groups);
    else if (op == "attention_fwd")
      known = addAttention(sim::Direction::forward);
    else if (op == "attention_bwd")
      known = addAttention(sim::Direction::backward);
    else if (op.starts_with("grouped_gemm"))
      known = addGrouped();
    else if (op == "moe_fused_fwd")
      known = addExpertLayer();
    else if (op.starts_with("mlp_"))
      known = addMlp();
    else if (op.starts_with("linear_cross_entropy"))
      known = addLinearLoss();
    else if (row_.bytes > 0)
      known = addMemory(op, toDouble(row_.bytes), toDouble(row_.n));
    if (!known) return core::fail("sizes are missing, or the operation is unknown");
    return std::move(case_);
  }

 private:
  [[nodiscard]] sim::Device device(std::string_view format) const { return sim::deviceFor(gpu_, format); }
  void countWork(double work, double peak) {
    case_.work += work;
    case_.peak = peak;
  }
  KernelPart& add(KernelPart part) {
    part.family = gpu_.family;
    return case_.parts.emplace_back(std::move(part));
  }

  bool addProducts(double repeat, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1) {
    if (m <= 0 || n <= 0 || k <= 0) return false;
    sim::GemmShape shape{.m = toDouble(m),
                         .n = toDouble(n),
                         .k = toDouble(k),
                         .batch = toDouble(std::max<std::int64_t>(batch, 1)),
                         .operandBytes = format_.operandBytes,
                         .outputBytes = std::max(2.0, format_.operandBytes)};
    shape.accumulatesFp32 = row_.noteHas("acc=True") && row_.noteHas("out=fp32");
    // Tables of frameworks time the whole linear layer, so the conversion of the activations is part of it;
    // bare products come from the libraries themselves.
    const bool bare = row_.library.starts_with("DeepGEMM") || row_.library.starts_with("cuBLAS") ||
                      row_.library.starts_with("torch._scaled_mm") || row_.library.starts_with("PyTorch");
    shape.quantizesInput = format_.operandBytes < 2 && !bare;
    // vLLM's block-scaled linear layers were timed as eager calls.
    shape.hostBound = row_.library.ends_with("ScaledMMKernel");
    const sim::Device on = device(format_.family);
    countWork(repeat * 2 * shape.m * shape.n * shape.k * shape.batch, on.peak);
    KernelPart part{.shape = shape, .device = on, .variant = std::string(format_.family), .repeat = repeat};
    part.rateKeys.push_back(sourceClass(row_.source));
    add(std::move(part));
    return true;
  }

  bool addAttention(sim::Direction direction) {
    if (row_.batch <= 0 || row_.queries <= 0 || row_.heads <= 0 || row_.headDim <= 0) return false;
    sim::AttentionShape shape{
        .direction = direction,
        .batch = toDouble(row_.batch),
        .heads = toDouble(row_.heads),
        .kvHeads = toDouble(row_.kvHeads > 0 ? row_.kvHeads : row_.heads),
        .queries = toDouble(row_.queries),
        .keys = toDouble(row_.keys > 0 ? row_.keys : row_.queries),
        .headDim = toDouble(row_.headDim),
        .headDimValue = toDouble(row_.headDimValue > 0 ? row_.headDimValue : row_.headDim),
        .causal = row_.causal,
        .deterministic = row_.noteHas("deterministic"),
        .elementBytes = format_.operandBytes};
    const std::string window = row_.noteValue("window");
    std::int64_t keysSeen = 0;
    std::from_chars(window.data(), window.data() + window.size(), keysSeen);
    shape.window = std::max(0.0, toDouble(keysSeen));
    const sim::Device on = device(format_.family);
    countWork(sim::attentionFlops(shape), on.peak);
    std::string variant = direction == sim::Direction::forward ? "forward" : "backward";
    std::string library = sim::attentionClass(row_.library);
    if (format_.operandBytes < 2) variant += "_fp8";
    if (format_.name == "mxfp8") library += "|mxfp8";
    add({.shape = shape, .device = on, .variant = std::move(variant), .rateKeys = {std::move(library)}});
    return true;
  }

  bool addGrouped() {
    if (row_.m <= 0 || row_.n <= 0 || row_.k <= 0 || row_.groups <= 0) return false;
    if (static_cast<double>(row_.m) * static_cast<double>(row_.groups) > 1e15) return false;
    sim::GroupedShape shape{.spread = sim::GroupedRows::balanced(row_.m * row_.groups, row_.groups),
                            .n = toDouble(row_.n),
                            .k = toDouble(row_.k),
                            .operandBytes = format_.operandBytes};
    finishGrouped(shape, "product|" + sim::libraryClass(row_.library));
    return true;
  }

  bool addExpertLayer() {
    if (row_.m <= 0 || row_.n <= 0 || row_.k <= 0 || row_.groups <= 0 || row_.topk <= 0) return false;
    if (static_cast<double>(row_.m) * static_cast<double>(row_.topk) > 1e15) return false;
    const std::int64_t rows = row_.m * row_.topk;
    const std::string routing = row_.noteValue("dist");
    sim::GroupedShape shape{.spread = sim::GroupedRows::balanced(rows, row_.groups),
                            .tokens = toDouble(row_.m),
                            .n = toDouble(row_.n),
                            .k = toDouble(row_.k),
                            .operandBytes = format_.operandBytes,
                            .wholeLayer = true};
    constexpr std::string_view kPowerLaw = "power_law_";
    if (routing.starts_with(kPowerLaw)) {
      double exponent = 0;
      std::from_chars(routing.data() + kPowerLaw.size(), routing.data() + routing.size(), exponent);
      if (exponent > 1 && exponent < 10)
        shape.spread = sim::GroupedRows::powerLaw(rows, row_.groups, row_.m, exponent);
    }
    finishGrouped(shape, "layer|" + sim::libraryClass(row_.library));
    return true;
  }

  void finishGrouped(const sim::GroupedShape& shape, std::string rateKey) {
    const sim::Device on = device(format_.family);
    countWork(sim::groupedFlops(shape), on.peak);
    add({.shape = shape,
         .device = on,
         .variant = std::string(format_.family),
         .rateKeys = {std::move(rateKey)}});
  }

  /// A gated MLP as a module: three products forward, six backward, and the activation.
  bool addMlp() {
    const bool backward = row_.op.ends_with("_bwd"), both = row_.op.ends_with("_fwd_bwd");
    const double forwardPasses = backward && !both ? 0 : 1, backwardPasses = backward || both ? 2 : 0;
    const double passes = forwardPasses + backwardPasses;
    if (!addProducts(2 * passes, row_.m, row_.n, row_.k) || !addProducts(passes, row_.m, row_.k, row_.n))
      return false;
    const double hidden = toDouble(row_.m) * toDouble(row_.n) * format_.operandBytes;
    addMemoryPart("activation", (3 * forwardPasses + 2.5 * backwardPasses) * hidden, toDouble(row_.n));
    return true;
  }

  /// The head's product and the loss on its output.
  bool addLinearLoss() {
    const double passes = row_.op.ends_with("_fwd_bwd") ? 3 : 1;
    if (!addProducts(passes, row_.m, row_.n, row_.k)) return false;
    addMemoryPart("cross_entropy_fwd", passes * toDouble(row_.m) * toDouble(row_.n) * format_.operandBytes,
                  toDouble(row_.n));
    return true;
  }

  bool addMemory(const std::string& op, double bytes, double columns) {
    countWork(bytes, gpu_.hbmBytesPerSecond);
    addMemoryPart(op, bytes, columns);
    return true;
  }

  void addMemoryPart(const std::string& op, double bytes, double columns) {
    sim::MemoryShape shape{.bytes = bytes};
    const std::string library = sim::libraryClass(row_.library);
    if (library == "pytorch 2.1 eager")
      shape.floor = sim::FloorClass::eager;
    else if (library.starts_with("liger") || library.starts_with("torch") ||
             library.starts_with("megatron") || library.starts_with("huggingface"))
      shape.floor = sim::FloorClass::benchmark;
    add({.shape = shape,
         .device = device("bf16"),
         .rateKeys = sim::memoryRateKeys(op, library, row_.format, gpu_.family, columns),
         .floorKeys = sim::memoryFloorKeys(op, library, gpu_.family)});
  }

  const KernelRow& row_;
  const core::GpuSpec& gpu_;
  const Format& format_;
  KernelCase case_;
};

}  // namespace

std::string sourceClass(const std::string& source) {
  const auto slash = source.find('/');
  const std::string first = source.substr(0, slash);
  if (first != "aic" || slash == std::string::npos) return first;
  // aic/BOARD/OPERATION/FRAMEWORK/VERSION: the framework decides which library is called.
  const auto version = source.rfind('/');
  const auto framework =
      version == std::string::npos || version == 0 ? version : source.rfind('/', version - 1);
  if (framework == std::string::npos || framework + 1 >= version) return first;
  return first + "/" + source.substr(framework + 1, version - framework - 1);
}

core::Result<KernelCase> kernelCase(const KernelRow& row) {
  if (!row.flag.empty() && row.flag != "l2") return core::fail("flag " + row.flag);
  const core::GpuSpec* gpu = sim::findGpu(row.gpu);
  if (!gpu) return core::fail(fmt::format("unknown gpu '{:.40}'", row.gpu));
  if (!(row.timeUs > 0)) return core::fail("no measured time");
  const Format* format = findFormat(row.format);
  if (!format) return core::fail(fmt::format("unknown dtype '{:.40}'", row.format));
  return Builder(row, *gpu, *format).build();
}

BoundCase::BoundCase(const KernelCase& kernel, const sim::KernelParameters& p) {
  for (const KernelPart& part : kernel.parts) {
    Part bound{.part = &part, .rates = {}, .floorRates = {}};
    const sim::Rates *rates = nullptr, *shared = nullptr;
    if (std::holds_alternative<sim::GemmShape>(part.shape)) {
      const auto* block = sim::findGemm(p, part.family, part.variant);
      bound.gemm = &block->values;
      rates = &block->rates;
      shared = &p.gemmRates;
    } else if (std::holds_alternative<sim::AttentionShape>(part.shape)) {
      const auto* block = sim::findAttention(p, part.family, part.variant);
      bound.attention = &block->values;
      rates = &block->rates;
      shared = &p.attentionRates;
    } else if (std::holds_alternative<sim::GroupedShape>(part.shape)) {
      const auto* block = sim::findGrouped(p, part.family, part.variant);
      bound.grouped = &block->values;
      rates = &block->rates;
      shared = &p.groupedRates;
    } else {
      bound.memory = &sim::findMemory(p, part.family)->values;
      rates = &p.memoryRates;
    }
    for (const std::string& key : part.rateKeys)
      for (const sim::Rates* list : {rates, shared})
        if (const double* rate = list ? list->find(key) : nullptr) bound.rates.push_back(rate);
    for (const std::string& key : part.floorKeys)
      if (const double* rate = rates->find(key)) bound.floorRates.push_back(rate);
    parts_.push_back(std::move(bound));
  }
}

double BoundCase::seconds() const {
  double total = 0;
  for (const Part& bound : parts_) {
    double rate = 1;
    for (const double* factor : bound.rates) rate *= *factor;
    double floorRate = 1;
    for (const double* factor : bound.floorRates) floorRate *= *factor;
    const KernelPart& part = *bound.part;
    double seconds = 0;
    if (bound.gemm)
      seconds = sim::gemmSeconds(std::get<sim::GemmShape>(part.shape), part.device, *bound.gemm, rate);
    else if (bound.attention)
      seconds = sim::attentionSeconds(std::get<sim::AttentionShape>(part.shape), part.device,
                                      *bound.attention, rate);
    else if (bound.grouped)
      seconds =
          sim::groupedSeconds(std::get<sim::GroupedShape>(part.shape), part.device, *bound.grouped, rate);
    else
      seconds = sim::memorySeconds(std::get<sim::MemoryShape>(part.shape), part.device, *bound.memory, rate,
                                   floorRate);
    total += part.repeat * seconds;
  }
  return total;
}

}  // namespace vsim::app
