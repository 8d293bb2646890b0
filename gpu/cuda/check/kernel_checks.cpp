#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/optim/optimizer.h"
#include "gpu/cuda/check/checks.h"
#include "gpu/rounding.h"
#include "gpu/synthetic.h"

namespace vsim::gpu::cuda {
namespace {

using core::DType;

const std::vector<std::int64_t> kSizes{1, 7, 8, 255, 4097, 1'000'003};
const std::vector<DType> kFloating{DType::fp32, DType::bf16, DType::fp16};

std::string guards(std::initializer_list<const DeviceBuffer*> buffers) {
  for (const DeviceBuffer* buffer : buffers)
    if (!buffer->guardsIntact()) return "memory around a result was overwritten";
  return {};
}

std::string castOf(const CheckContext& c, DType from, DType to, std::int64_t elements, bool add) {
  const int skew = static_cast<int>(c.random() % 4);
  DeviceBuffer x(c.api, c.stream, from, elements, skew),
      y(c.api, c.stream, to, elements, static_cast<int>(c.random() % 4));
  const auto source = c.randomValues(from, elements, 1e3F);
  const auto before = c.randomValues(to, elements);
  x.write(source);
  if (add) y.write(before);
  require(c.api.cast(x.data(), from, y.data(), to, elements, add, c.stream));
  std::vector<float> expected(source.size());
  for (std::size_t i = 0; i < source.size(); ++i)
    expected[i] = roundTo(to, add ? before[i] + source[i] : source[i]);
  const std::string problem = difference(y.read(), expected);
  return problem.empty() ? guards({&x, &y}) : problem;
}

std::string adamWOf(const CheckContext& c, DType parameterType, DType gradientType, std::int64_t elements) {
  const int skew = static_cast<int>(c.random() % 3), step = 1 + static_cast<int>(c.random() % 500);
  DeviceBuffer p(c.api, c.stream, parameterType, elements, skew),
      g(c.api, c.stream, gradientType, elements, skew);
  DeviceBuffer m(c.api, c.stream, DType::fp32, elements, skew), v(c.api, c.stream, DType::fp32, elements, 0);
  const auto p0 = c.randomValues(parameterType, elements), g0 = c.randomValues(gradientType, elements);
  const auto m0 = c.randomValues(DType::fp32, elements);
  auto v0 = c.randomValues(DType::fp32, elements);
  for (float& value : v0) value = std::abs(value);
  p.write(p0), g.write(g0), m.write(m0), v.write(v0);
  const core::AdamwParameters settings{.learningRate = 2e-3F};
  device::AdamWCall call{
      .parameters = p.data(), .gradients = g.data(), .first = m.as<float>(), .second = v.as<float>()};
  call.parameterType = parameterType, call.gradientType = gradientType, call.elements = elements,
  call.step = step;
  call.learningRate = settings.learningRate, call.beta1 = settings.beta1, call.beta2 = settings.beta2;
  call.epsilon = settings.epsilon, call.weightDecay = settings.weightDecay;
  require(c.api.adamW(call, c.stream));
  std::vector<float> p1(p0.size()), m1(p0.size()), v1(p0.size());
  for (std::size_t i = 0; i < p0.size(); ++i) {
    const core::AdamwState next = core::adamwStep({p0[i], m0[i], v0[i]}, g0[i], step, settings);
    p1[i] = roundTo(parameterType, next.parameter);
    m1[i] = next.exponentialAverage;
    v1[i] = next.exponentialAverageSquare;
  }
  for (const std::string& problem :
       {difference(p.read(), p1), difference(m.read(), m1), difference(v.read(), v1), guards({&p, &m, &v})})
    if (!problem.empty()) return problem;
  return {};
}

std::string quantizeOf(const CheckContext& c, std::int64_t block, std::int64_t elements) {
  const std::int64_t blocks = (elements + block - 1) / block;
  DeviceBuffer values(c.api, c.stream, DType::fp32, elements, static_cast<int>(c.random() % 2));
  DeviceBuffer codes(c.api, c.stream, DType::uint8, elements), scales(c.api, c.stream, DType::fp32, blocks);
  DeviceBuffer back(c.api, c.stream, DType::fp32, elements);
  auto v = c.randomValues(DType::fp32, elements, 30);
  if (blocks > 1) std::fill_n(v.begin(), block, 0.0F);
  values.write(v);
  const device::QuantizeCall call{.values = values.as<float>(),
                                  .codes = codes.as<std::int8_t>(),
                                  .scales = scales.as<float>(),
                                  .elements = elements,
                                  .block = block};
  require(c.api.quantize(call, c.stream));
  require(c.api.dequantize(call, back.as<float>(), c.stream));
  std::vector<float> scale(static_cast<std::size_t>(blocks)), found, expected, restored;
  for (std::size_t i = 0; i < v.size(); ++i) {
    float& own = scale[i / static_cast<std::size_t>(block)];
    own = std::max(own, std::abs(v[i]));
  }
  for (float& own : scale) own /= 127.0F;
  const auto bytes = codes.download();
  for (std::size_t i = 0; i < v.size(); ++i) {
    const float own = scale[i / static_cast<std::size_t>(block)];
    const float code = own > 0 ? std::clamp(std::nearbyint(v[i] / own), -127.0F, 127.0F) : 0.0F;
    expected.push_back(code);
    found.push_back(static_cast<float>(static_cast<std::int8_t>(bytes[i])));
    restored.push_back(code * own);
  }
  for (const std::string& problem : {difference(scales.read(), scale), difference(found, expected),
                                     difference(back.read(), restored), guards({&codes, &scales, &back})})
    if (!problem.empty()) return problem;
  return {};
}

std::string scaleAndNormOf(const CheckContext& c, DType type, std::int64_t elements) {
  DeviceBuffer x(c.api, c.stream, type, elements, static_cast<int>(c.random() % 4)),
      sum(c.api, c.stream, DType::fp32, 1);
  auto values = c.randomValues(type, elements);
  x.write(values);
  sum.write({1.5F});
  require(c.api.scale(x.data(), type, elements, 0.37F, c.stream));
  require(c.api.squaredNorm(x.data(), type, elements, sum.as<float>(), c.stream));
  double squares = 1.5;
  for (float& value : values) {
    value = roundTo(type, value * 0.37F);
    squares += static_cast<double>(value) * value;
  }
  if (std::string problem = difference(x.read(), values); !problem.empty()) return problem;
  const float found = sum.read()[0];
  if (!(std::abs(found - squares) <= 1e-3 * squares))
    return fmt::format("squared norm {} instead of {}", found, squares);
  return guards({&x, &sum});
}

}  // namespace

void checkMemory(const CheckContext& c) {
  c.check("memory: what is copied there and back is the same", [&]() -> std::string {
    for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{4097}, std::int64_t{10'000'019}}) {
      DeviceBuffer buffer(c.api, c.stream, DType::uint8, bytes, 3);
      std::vector<std::uint8_t> data(static_cast<std::size_t>(bytes));
      for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(c.random());
      buffer.upload(data.data());
      if (buffer.download() != data) return fmt::format("{} bytes differ", bytes);
      require(c.api.fillBytes(buffer.data(), 0x3c, static_cast<std::size_t>(bytes), c.stream));
      if (buffer.download() != std::vector<std::uint8_t>(data.size(), 0x3c))
        return "fillBytes left other bytes";
      if (!buffer.guardsIntact()) return "memory around was overwritten";
    }
    return {};
  });
  c.check("memory: more than there is is refused, and the device goes on", [&]() -> std::string {
    core::Bytes free = 0, total = 0;
    require(c.api.memoryInfo(free, total));
    void* memory = nullptr;
    const device::Status status = c.api.allocate(memory, static_cast<std::size_t>(total) * 2);
    if (status.code != device::kOutOfMemory) return "code " + std::to_string(status.code) + " " + status.text;
    require(c.api.empty(c.stream));
    c.finish();
    return {};
  });
}

void checkKernels(const CheckContext& c) {
  for (const DType from : kFloating)
    for (const DType to : kFloating)
      c.check(fmt::format("cast {} to {}, and added", core::name(from), core::name(to)),
              [&]() -> std::string {
                for (const std::int64_t elements : kSizes)
                  for (const bool add : {false, true})
                    if (std::string problem = castOf(c, from, to, elements, add); !problem.empty())
                      return problem;
                require(c.api.cast(nullptr, from, nullptr, to, 0, false, c.stream));
                return {};
              });
  for (const DType type : kFloating)
    c.check(fmt::format("scale and squared norm, {}", core::name(type)), [&]() -> std::string {
      for (const std::int64_t elements : kSizes)
        if (std::string problem = scaleAndNormOf(c, type, elements); !problem.empty()) return problem;
      return {};
    });
  for (const DType type : kFloating)
    c.check(fmt::format("synthetic numbers, {}", core::name(type)), [&]() -> std::string {
      const InitialValues reference({.seed = c.random(), .name = "check", .coordinate = 1});
      for (const std::int64_t elements : kSizes) {
        DeviceBuffer x(c.api, c.stream, type, elements, 1);
        const std::int64_t first = (std::int64_t{1} << 32U) + 3;
        require(c.api.fillSynthetic(x.data(), type, reference.base(), first, elements, c.stream));
        std::vector<float> expected(static_cast<std::size_t>(elements));
        for (std::int64_t i = 0; i < elements; ++i)
          expected[static_cast<std::size_t>(i)] = roundTo(type, reference(first + i));
        if (std::string problem = difference(x.read(), expected); !problem.empty()) return problem;
        if (std::string problem = guards({&x}); !problem.empty()) return problem;
      }
      return {};
    });
  for (const DType parameters : {DType::fp32, DType::bf16})
    for (const DType gradients : {DType::fp32, DType::bf16})
      c.check(
          fmt::format("AdamW, parameters {}, gradients {}", core::name(parameters), core::name(gradients)),
          [&]() -> std::string {
            for (const std::int64_t elements : kSizes)
              if (std::string problem = adamWOf(c, parameters, gradients, elements); !problem.empty())
                return problem;
            return {};
          });
  for (const std::int64_t block : {1, 100, 256, 1500, 4096})
    c.check(fmt::format("quantize and dequantize, blocks of {}", block), [&]() -> std::string {
      for (const std::int64_t elements : {block, 5 * block + block / 2 + 1, std::int64_t{300'007}})
        if (std::string problem = quantizeOf(c, block, elements); !problem.empty()) return problem;
      return {};
    });
  c.check("touch and empty kernels", [&]() -> std::string {
    DeviceBuffer source(c.api, c.stream, DType::uint8, 100'000, 16),
        target(c.api, c.stream, DType::uint8, 60'000, 16);
    for (const std::int64_t read : {0, 1, 5'000'000})
      for (const std::int64_t written : {0, 1, 5'000'000})
        require(c.api.touch({source.data(), target.data(), 100'000, 60'000, read, written}, c.stream));
    require(c.api.empty(c.stream));
    return guards({&source, &target});
  });
}

}  // namespace vsim::gpu::cuda
