#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "gpu/cuda/check/checks.h"

namespace vsim::gpu::cuda {
namespace {

using core::DType;
using device::CopySegment;

/// Kernels must move at least this part of what a plain copy moves.
constexpr double kBandwidthBar = 0.85;
/// Products: best of all shapes against the datasheet, and large squares against published measurements.
constexpr double kDatasheetBar = 0.75, kMeasuredBar = 0.90, kMeasuredMost = 1.10;
constexpr int kRepetitions = 20;

/// Device memory of a measurement; nothing is written to it but synthetic numbers.
class Scratch {
 public:
  Scratch(const CheckContext& c, core::Bytes bytes) : api_(c.api), stream_(c.stream) {
    require(api_.allocate(memory_, static_cast<std::size_t>(bytes)));
  }
  ~Scratch() {
    (void)api_.synchronize(stream_);
    (void)api_.free(memory_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] char* at(core::Bytes offset) const { return static_cast<char*>(memory_) + offset; }

 private:
  device::Api& api_;
  device::Stream stream_;
  void* memory_ = nullptr;
};

/// Measures kernels on four arrays of `elements` fp32 numbers.
class Bandwidth {
 public:
  Bandwidth(const CheckContext& c, std::int64_t elements)
      : c_(c), elements_(elements), array_(elements * 4), memory_(c, 4 * array_ + 4096) {
    for (int i = 0; i < 4; ++i)
      require(c.api.fillSynthetic(array(i), DType::fp32, 17, i * elements, elements, c.stream));
  }
  [[nodiscard]] char* array(int i) const { return memory_.at(i * array_); }
  template <class T>
  [[nodiscard]] T* as(int i) const {
    return reinterpret_cast<T*>(array(i));
  }
  /// Bytes a second of a call that moves so many bytes for each element.
  double measure(double bytesOfElement, const std::function<device::Status()>& call) const {
    return bytesOfElement * static_cast<double>(elements_) / c_.seconds(kRepetitions, call);
  }
  void row(const std::string& name, double bytesOfElement, bool barred,
           const std::function<device::Status()>& call) const {
    try {
      const double rate = measure(bytesOfElement, call);
      c_.table.measured(name, rate / 1e9, "GB/s", barred ? kBandwidthBar * copy_ / 1e9 : 0,
                        fmt::format("{:.1f} % of the copy", 100 * rate / copy_));
    } catch (const DeviceFailure& failure) {
      c_.table.result(name, false, failure.text);
    }
  }
  void copy() {
    // The fastest of two ways to read and write a buffer once.
    const double cast = measure(8, [this] {
      return c_.api.cast(array(0), DType::fp32, array(1), DType::fp32, elements_, false, c_.stream);
    });
    const double touch = measure(8, [this] {
      const auto bytes = static_cast<std::size_t>(array_);
      return c_.api.touch({array(0), array(1), bytes, bytes, array_, array_}, c_.stream);
    });
    copy_ = std::max(cast, touch);
    c_.table.measured("bandwidth: copy", copy_ / 1e9, "GB/s", 0,
                      fmt::format("by cast {:.0f}, by touch {:.0f}; the memory's {:.0f}", cast / 1e9,
                                  touch / 1e9, c_.facts.memoryBytesPerSecond / 1e9));
    if (c_.facts.memoryBytesPerSecond > 0)
      c_.table.measured("bandwidth: copy, part of the memory's", copy_ / c_.facts.memoryBytesPerSecond, "",
                        0.8, "");
  }
  void elementwise() const {
    auto& api = c_.api;
    row("bandwidth: cast fp32 to bf16", 6, true,
        [&] { return api.cast(array(0), DType::fp32, array(1), DType::bf16, elements_, false, c_.stream); });
    row("bandwidth: cast bf16 to fp32", 6, true,
        [&] { return api.cast(array(1), DType::bf16, array(2), DType::fp32, elements_, false, c_.stream); });
    row("bandwidth: add fp32", 12, true,
        [&] { return api.cast(array(0), DType::fp32, array(1), DType::fp32, elements_, true, c_.stream); });
    row("bandwidth: scale fp32", 8, true,
        [&] { return api.scale(array(1), DType::fp32, elements_, 0.5F, c_.stream); });
    row("bandwidth: squared norm fp32", 4, true,
        [&] { return api.squaredNorm(array(0), DType::fp32, elements_, as<float>(3), c_.stream); });
    row("bandwidth: fill", 4, false,
        [&] { return api.fillSynthetic(array(3), DType::fp32, 1, 0, elements_, c_.stream); });
    device::AdamWCall adam{
        .parameters = array(0), .gradients = array(1), .first = as<float>(2), .second = as<float>(3)};
    adam.elements = elements_, adam.learningRate = 1e-3F, adam.beta1 = 0.9F, adam.beta2 = 0.999F,
    adam.epsilon = 1e-8F;
    require(api.fillBytes(array(3), 0, static_cast<std::size_t>(array_), c_.stream));
    row("bandwidth: AdamW fp32", 28, true, [&] { return api.adamW(adam, c_.stream); });
    const device::QuantizeCall codes{.values = as<float>(0),
                                     .codes = as<std::int8_t>(1),
                                     .scales = as<float>(2),
                                     .elements = elements_,
                                     .block = 256};
    row("bandwidth: quantize, blocks of 256", 5 + 4.0 / 256, true,
        [&] { return api.quantize(codes, c_.stream); });
    row("bandwidth: dequantize, blocks of 256", 5 + 4.0 / 256, true,
        [&] { return api.dequantize(codes, as<float>(3), c_.stream); });
  }
  /// Tensors of a layer cut for 8 ranks: copy-out of a gathered buffer, in bf16.
  void segments(const std::string& name, std::int64_t odd, bool barred) const {
    std::vector<CopySegment> list;
    std::int64_t all = 0, longest = 0;
    const std::int64_t half = elements_;  // bf16 elements, in arrays of twice as many
    for (std::int64_t i = 0, from = 0, to = odd; i < 4096; ++i) {
      const std::int64_t count = (i % 9 == 0 ? half / 2048 : half / 8192) / 8 * 8 - (odd != 0 ? i % 3 : 0);
      list.push_back({.from = from, .to = to, .count = count});
      from += count, to += count, all += count;
      longest = std::max(longest, count);
    }
    const std::size_t bytes = list.size() * sizeof(CopySegment);
    require(c_.api.copyToDevice(array(3), list.data(), bytes, c_.stream));
    c_.finish();
    device::CopyCall call{
        .source = array(0), .target = array(1), .sourceType = DType::bf16, .targetType = DType::bf16};
    call.segments = as<CopySegment>(3), call.segmentCount = static_cast<std::int64_t>(list.size());
    call.longest = longest, call.elements = all;
    row(name, 4.0 * static_cast<double>(all) / static_cast<double>(elements_), barred,
        [&] { return c_.api.copySegments(call, c_.stream); });
  }

 private:
  const CheckContext& c_;
  std::int64_t elements_;
  core::Bytes array_;
  Scratch memory_;
  double copy_ = 1;
};

/// Dense bf16 rate of the tensor cores by the datasheet (SXM boards), FLOP/s.
std::optional<double> datasheet(const std::string& device) {
  const std::pair<const char*, double> kRates[] = {
      {"H200", 989.4e12}, {"H100", 989.4e12}, {"A100", 312e12}, {"B200", 2250e12}, {"GH200", 989.4e12}};
  for (const auto& [name, rate] : kRates)
    if (device.find(name) != std::string::npos && device.find("PCIe") == std::string::npos) return rate;
  return std::nullopt;
}

/// Published FLOP/s of square products on an H200, cuBLASLt, and the side of the square (kernels.csv of
/// tests/data/validation: k06649, k06914, k06915). None is published for bf16 at 16,384: there the one at
/// 8,192 stands in.
struct Published {
  double rate = 0;
  std::int64_t side = 0;
};
Published publishedOnH200(DType type, std::int64_t side) {
  if (type == DType::bf16) return {806.2e12, 8192};
  return {side == 8192 ? 1301e12 : 1366e12, side};
}

double productRate(const CheckContext& c, const device::GemmCall& shape) {
  device::GemmCall call = shape;
  const core::Bytes element = core::bytesOf(call.dtype);
  const Scratch a(c, call.m * call.k * element), b(c, call.k * call.n * element),
      out(c, call.m * call.n * element);
  require(c.api.fillSynthetic(a.at(0), call.dtype, 1, 0, call.m * call.k, c.stream));
  require(c.api.fillSynthetic(b.at(0), call.dtype, 2, 0, call.k * call.n, c.stream));
  call.a = a.at(0), call.b = b.at(0), call.c = out.at(0);
  const double flops =
      2.0 * static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
  return flops / c.seconds(kRepetitions, [&] { return c.api.gemm(call, c.stream); });
}

}  // namespace

void checkBandwidth(const CheckContext& c) {
  if (!c.computes) return c.table.skip("bandwidth of the kernels", "times of this device mean nothing");
  try {
    core::Bytes free = 0, total = 0;
    require(c.api.memoryInfo(free, total));
    // A GiB an array, so that the cache plays no part, or what half the memory allows.
    const std::int64_t elements = std::min<std::int64_t>(std::int64_t{1} << 28U, free / 2 / 16 / 4096 * 4096);
    Bandwidth bandwidth(c, elements);
    bandwidth.copy();
    bandwidth.elementwise();
    bandwidth.segments("bandwidth: copies of 4,096 segments, aligned", 0, true);
    bandwidth.segments("bandwidth: copies of 4,096 segments, misaligned", 1, false);
    constexpr int kLaunches = 1000;
    double best = 1e9;
    for (int round = 0; round < 5; ++round) {
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < kLaunches; ++i) require(c.api.empty(c.stream));
      best = std::min(
          best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / kLaunches);
      c.finish();
    }
    c.table.measured("launch of an empty kernel", best * 1e6, "us", 0,
                     "host time of a call, best of 5 rounds of 1,000");
  } catch (const DeviceFailure& failure) {
    c.table.result("bandwidth of the kernels", false, failure.text);
  }
}

void checkProductSpeed(const CheckContext& c) {
  if (!c.computes) return c.table.skip("speed of products", "times of this device mean nothing");
  const bool isH200 =
      c.facts.name.find("H200") != std::string::npos && c.facts.name.find("GH200") == std::string::npos;
  double best = 0;
  std::vector<DType> types{DType::bf16};
  if (c.facts.computeCapability >= 89) types.push_back(DType::fp8);
  for (const DType type : types)
    for (const std::int64_t side : {4096, 8192, 16'384}) {
      const std::string name = fmt::format("products, {}, m = n = k = {}", core::name(type), side);
      core::Bytes free = 0, total = 0;
      if (!c.api.memoryInfo(free, total).ok() || free < 4 * side * side * core::bytesOf(type)) {
        c.table.skip(name, "not enough free memory");
        continue;
      }
      try {
        const double rate = productRate(c, {.dtype = type, .m = side, .n = side, .k = side});
        if (type == DType::bf16) best = std::max(best, rate);
        const bool barred = isH200 && side >= 8192;
        if (!barred) {
          c.table.measured(name, rate / 1e12, "TFLOP/s", 0, "");
          continue;
        }
        const Published published = publishedOnH200(type, side);
        std::string text = fmt::format("published: {:.0f}", published.rate / 1e12);
        if (published.side != side) text += fmt::format(", at {}", published.side);
        c.table.measured(name, rate / 1e12, "TFLOP/s", kMeasuredBar * published.rate / 1e12, text,
                         kMeasuredMost * published.rate / 1e12);
      } catch (const DeviceFailure& failure) {
        c.table.result(name, false, failure.text);
      }
    }
  const std::optional<double> sheet = datasheet(c.facts.name);
  if (!sheet)
    return c.table.skip("products, best of bf16 against the datasheet", "no datasheet for " + c.facts.name);
  c.table.measured("products, best of bf16 against the datasheet", best / *sheet, "", kDatasheetBar, "");
}

}  // namespace vsim::gpu::cuda
