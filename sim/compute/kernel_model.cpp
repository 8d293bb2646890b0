#include "sim/compute/kernel_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/compute/attention_software.h"
#include "sim/compute/attention_time.h"
#include "sim/compute/gemm_time.h"
#include "sim/compute/grouped_time.h"
#include "sim/compute/kernel_lookup.h"
#include "sim/compute/memory_time.h"

namespace vsim::sim {
namespace {

constexpr std::size_t kMemoryOps = 14;
constexpr std::size_t kDTypes = 7;

double toDouble(std::int64_t value) { return static_cast<double>(value); }

/// Share of HBM peak that current training kernels reach, by MemoryOp (forward, backward), on every board
/// (the size ramp of Blackwell comes on top). Norms: 0.75 forward and 0.35 backward (cuDNN and compiled
/// kernels on H200 and GB200); elementwise 0.87 (A100, above 250 MB); optimizer: fused Adam 0.88 of HBM peak
/// on an H100; rope, loss: fused kernels. Means of published kernel times (sources in the parameter file).
struct Efficiency {
  double forward, backward;
};
constexpr std::array<Efficiency, kMemoryOps> kEfficiency{{{0.87, 0.87},    // elementwise
                                                          {0.87, 0.87},    // activation
                                                          {0.87, 0.87},    // residual
                                                          {0.75, 0.35},    // norm
                                                          {0.80, 0.80},    // rope
                                                          {0.60, 0.50},    // embedding
                                                          {0.80, 0.80},    // loss
                                                          {0.67, 0.67},    // softmax
                                                          {0.88, 0.88},    // optimizer
                                                          {0.87, 0.87},    // copy
                                                          {0.87, 0.87},    // cast
                                                          {0.60, 0.60},    // permute
                                                          {0.87, 0.87},    // quantize
                                                          {0.80, 0.80}}};  // reduction

/// Libraries that stand for current software, best first: products by cuBLASLt, grouped products by PyTorch
/// and TransformerEngine.
constexpr std::array<std::string_view, 4> kCurrentGemm{"aic/trtllm", "aic/sglang", "aic/vllm", "simumax"};
constexpr std::array<std::string_view, 4> kCurrentGrouped{
    "product|torch._grouped_mm", "product|transformerengine grouped gemm",
    "layer|trtllm moe_torch_flow_cutlass", "layer|trtllm moe_torch_flow"};

/// Rate of the first library that the block or, failing that, any board has measured.
template <std::size_t N>
double currentRate(const Rates& own, const Rates& shared, const std::array<std::string_view, N>& libraries) {
  for (const std::string_view name : libraries)
    if (const double* rate = own.find(name)) return *rate * shared.valueOr(name, 1);
  for (const std::string_view name : libraries)
    if (const double* rate = shared.find(name)) return *rate;
  return 1;
}

std::string_view formatOf(core::DType type) {
  switch (type) {
    case core::DType::fp32:
      return "fp32";
    case core::DType::fp8:
      return "fp8";
    default:
      return "bf16";
  }
}

/// How much slower matrix products of older libraries are. cuBLAS of PyTorch 1.13 on A100: 1.09; early cuBLAS
/// 12 on H100: 1.107 (published tables of the same shapes by library age).
double ageFactor(const core::GpuSpec& gpu, std::int64_t year) {
  if (year <= 0) return 1;
  if (gpu.computeCapability == 80 && year <= 2022) return 1 / 1.09;
  if (gpu.computeCapability == 90 && year <= 2023) return 1 / 1.107;
  return 1;
}

/// Boards capped below the power of their family run tensor work at the square root of the power ratio.
double powerFactor(const core::GpuSpec& gpu) {
  if (gpu.family == "H100" && gpu.powerWatts >= 450 && gpu.powerWatts < 650 && gpu.sms == 132)
    return std::sqrt(gpu.powerWatts / 700);
  return 1;
}

}  // namespace

/// Looked up once, so that a cost needs no search by name.
struct KernelModel::Tables {
  struct Gemm {
    const ParameterBlock<GemmParameters>* block = nullptr;
    double rate = 1;
  };
  struct Grouped {
    const ParameterBlock<GroupedParameters>* block = nullptr;
    double rate = 1;
  };
  KernelParameters parameters;
  std::array<Gemm, kDTypes> gemm;
  std::array<Grouped, kDTypes> grouped;
  AttentionChoice forward, backward;
  MemoryParameters memory;
  double memoryError = 0;
};

core::Result<KernelParameters> KernelModel::loadParameters(const std::string& path) {
  if (path.empty()) return parseKernelParameters(bundledKernelParameters(), "bundled kernel parameters");
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    return tl::unexpected(core::Error{.message = "cannot read the kernel parameters", .file = path});
  std::ostringstream text;
  text << file.rdbuf();
  return parseKernelParameters(text.str(), path);
}

KernelModel::KernelModel(core::GpuSpec gpu, KernelParameters parameters, KernelSoftware software)
    : gpu_(std::move(gpu)), software_(std::move(software)) {
  auto tables = std::make_shared<Tables>();
  tables->parameters = std::move(parameters);
  const KernelParameters& p = tables->parameters;
  VSIM_CHECK(!p.gemm.empty() && !p.attention.empty() && !p.grouped.empty() && !p.memory.empty(),
             "kernel parameters lack a kind of kernel");
  VSIM_CHECK(gpu_.sms > 0 && gpu_.peakBf16 > 0 && gpu_.hbmBytesPerSecond > 0, "incomplete GPU: " + gpu_.name);
  const double tensorRate = ageFactor(gpu_, software_.year) * powerFactor(gpu_);
  for (std::size_t i = 0; i < kDTypes; ++i) {
    const std::string_view format = formatOf(static_cast<core::DType>(i));
    auto& gemm = tables->gemm[i];
    gemm.block = findGemm(p, gpu_.family, format);
    gemm.rate = currentRate(gemm.block->rates, p.gemmRates, kCurrentGemm) * tensorRate;
    auto& grouped = tables->grouped[i];
    grouped.block = findGrouped(p, gpu_.family, format);
    grouped.rate = currentRate(grouped.block->rates, p.groupedRates, kCurrentGrouped) * tensorRate;
  }
  const std::string library = attentionClass(software_.attention);
  tables->forward = chooseAttention(p, gpu_, library, Direction::forward);
  tables->backward = chooseAttention(p, gpu_, library, Direction::backward);
  const ParameterBlock<MemoryParameters>& memory = *findMemory(p, gpu_.family);
  tables->memory = memory.values;
  tables->memory.efficiency = 1;  // kEfficiency is absolute
  tables->memory.cacheFactor = std::max(1.0, memory.values.cacheFactor);
  if (gpu_.computeCapability < 100) tables->memory.sizeRamp = 0;
  tables->memoryError = memory.relativeError;
  tables_ = std::move(tables);
}

core::Cost KernelModel::cost(const core::Operation& operation) const {
  switch (operation.kind) {
    case core::OpKind::gemm:
      return gemmCost(operation);
    case core::OpKind::groupedGemm:
      return groupedCost(operation);
    case core::OpKind::attentionForward:
    case core::OpKind::attentionBackward:
      return attentionCost(operation);
    case core::OpKind::memory:
      break;
  }
  return memoryCost(operation);
}

namespace {

// Compute kernels fill the SMs (slowdown 1): a kernel on another stream gets half of the machine.
core::Cost modelled(double seconds, int count, double relativeError) {
  return {.time = core::picosecondsFromSeconds(seconds * std::max(count, 0)),
          .slowdown = 1,
          .provenance = core::Provenance::modelled,
          .relativeError = relativeError};
}

}  // namespace

core::Cost KernelModel::gemmCost(const core::Operation& op) const {
  const auto& table = tables_->gemm[static_cast<std::size_t>(op.dtype)];
  const double operandBytes = toDouble(core::bytesOf(op.dtype));
  const GemmShape shape{.m = toDouble(op.m),
                        .n = toDouble(op.n),
                        .k = toDouble(op.k),
                        .batch = toDouble(std::max<std::int64_t>(op.groups, 1)),
                        .operandBytes = operandBytes,
                        .outputBytes = std::max(operandBytes, 2.0),
                        .accumulatesFp32 = op.accumulatesFp32,
                        .quantizesInput = op.dtype == core::DType::fp8};
  return modelled(gemmSeconds(shape, deviceFor(gpu_, formatOf(op.dtype)), table.block->values, table.rate),
                  op.count, table.block->relativeError);
}

core::Cost KernelModel::groupedCost(const core::Operation& op) const {
  const auto& table = tables_->grouped[static_cast<std::size_t>(op.dtype)];
  const GroupedRows spread = software_.routingExponent > 0
                                 ? GroupedRows::powerLaw(op.m, op.groups, op.m, software_.routingExponent)
                                 : GroupedRows::balanced(op.m, op.groups);
  const GroupedShape shape{.spread = spread,
                           .n = toDouble(op.n),
                           .k = toDouble(op.k),
                           .operandBytes = toDouble(core::bytesOf(op.dtype))};
  return modelled(groupedSeconds(shape, deviceFor(gpu_, formatOf(op.dtype)), table.block->values, table.rate),
                  op.count, table.block->relativeError);
}

core::Cost KernelModel::attentionCost(const core::Operation& op) const {
  const bool forward = op.kind == core::OpKind::attentionForward;
  const AttentionChoice& choice = forward ? tables_->forward : tables_->backward;
  const AttentionShape shape{.direction = forward ? Direction::forward : Direction::backward,
                             .batch = toDouble(op.batch),
                             .heads = toDouble(op.heads),
                             .kvHeads = toDouble(op.kvHeads > 0 ? op.kvHeads : op.heads),
                             .queries = toDouble(op.sequence),
                             .keys = toDouble(op.sequence),
                             .headDim = toDouble(op.headDim),
                             .headDimValue = toDouble(op.headDimValue > 0 ? op.headDimValue : op.headDim),
                             .window = toDouble(op.window),
                             .causal = op.causal};
  if (!choice.eager)
    return modelled(attentionSeconds(shape, choice.device, choice.block->values, choice.rate), op.count,
                    choice.block->relativeError);
  // Unfused: two products over the full scores (five in backward), and the scores pass through memory: scale
  // and mask, softmax and its conversion to and from fp32 forward; twice that backward.
  const auto& gemm = tables_->gemm[static_cast<std::size_t>(op.dtype)];
  const double scores = shape.batch * shape.heads * shape.queries * shape.keys;
  const double products = forward ? 2 : 5, bytesPerScore = forward ? 20 : 24;
  const GemmShape product{
      .m = shape.queries, .n = shape.keys, .k = shape.headDim, .batch = shape.batch * shape.heads};
  const Device device = deviceFor(gpu_, formatOf(op.dtype));
  const double seconds = products * gemmSeconds(product, device, gemm.block->values, gemm.rate) +
                         memorySeconds({.bytes = scores * bytesPerScore}, device, tables_->memory, 1);
  return modelled(seconds, op.count, 0.25);
}

core::Cost KernelModel::memoryCost(const core::Operation& op) const {
  const Efficiency& e = kEfficiency[static_cast<std::size_t>(op.memoryOp) % kMemoryOps];
  const double count = std::max(op.count, 1);
  const MemoryShape shape{.bytes = (toDouble(op.bytesRead) + toDouble(op.bytesWritten)) / count};
  const Device device = deviceFor(gpu_, "bf16");
  const double rate = op.backward ? e.backward : e.forward;
  const double seconds = memorySeconds(shape, device, tables_->memory, rate);
  core::Cost cost = modelled(seconds, op.count, tables_->memoryError);
  // Slows others by its share of the memory bandwidth.
  cost.slowdown = std::min(1.0, shape.bytes / device.bandwidth / seconds);
  return cost;
}

}  // namespace vsim::sim
