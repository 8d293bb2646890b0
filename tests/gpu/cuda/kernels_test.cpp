// Every kernel, thread by thread on the host, against plain loops: odd sizes, misaligned memory, poisoned
// results.

#include "gpu/cuda/kernels.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "core/optim/optimizer.h"
#include "gpu/cuda/launch_plan.h"
#include "gpu/rounding.h"
#include "gpu/synthetic.h"

using namespace vsim;
using namespace vsim::gpu::cuda;
using core::DType;
using gpu::device::CopySegment;

namespace {

const LaunchContext kContext{nullptr, 2};
constexpr std::uint8_t kPoison = 0xa5;

/// Memory with poison before and behind `elements` elements of a type, which begin `skew` elements off an
/// aligned address.
class Guarded {
 public:
  Guarded(DType type, std::int64_t elements, int skew = 0)
      : type_(type),
        elements_(elements),
        bytes_(static_cast<std::size_t>(elements * core::bytesOf(type))),
        memory_(bytes_ + 1024, kPoison) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) + 256;
    begin_ = 256 + (256 - address % 256) % 256 + static_cast<std::size_t>(skew * core::bytesOf(type));
  }
  [[nodiscard]] void* data() { return memory_.data() + begin_; }
  template <class T>
  [[nodiscard]] T* as() {
    return reinterpret_cast<T*>(data());
  }
  [[nodiscard]] bool surroundingsIntact() const {
    const auto poisoned = [](std::uint8_t byte) { return byte == kPoison; };
    const auto at = [this](std::size_t i) { return memory_.begin() + static_cast<std::ptrdiff_t>(i); };
    return std::all_of(memory_.begin(), at(begin_), poisoned) &&
           std::all_of(at(begin_ + bytes_), memory_.end(), poisoned);
  }
  [[nodiscard]] float get(std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    if (type_ == DType::fp32) return as<float>()[at];
    const std::uint16_t bits = as<std::uint16_t>()[at];
    if (type_ == DType::bf16) return std::bit_cast<float>(std::uint32_t{bits} << 16U);
    const int exponent = (bits >> 10U) & 31, fraction = bits & 0x3ff;
    const float size = exponent == 31  ? std::numeric_limits<float>::infinity()
                       : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                       : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
    return (bits & 0x8000U) != 0 ? -size : size;
  }
  /// `value` is one that the type has.
  void set(std::int64_t i, float value) {
    const auto at = static_cast<std::size_t>(i);
    if (type_ == DType::fp32) {
      as<float>()[at] = value;
    } else if (type_ == DType::bf16) {
      as<std::uint16_t>()[at] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16U);
    } else {
      int exponent = 0;
      const float size = std::frexp(std::abs(value), &exponent);
      std::uint32_t bits = 0;
      if (size != 0)
        bits = exponent < -13 ? static_cast<std::uint32_t>(std::ldexp(std::abs(value), 24))
                              : static_cast<std::uint32_t>(exponent + 14) * 1024U +
                                    static_cast<std::uint32_t>(std::ldexp(size, 11)) - 1024U;
      as<std::uint16_t>()[at] = static_cast<std::uint16_t>(bits | (value < 0 ? 0x8000U : 0U));
    }
  }
  std::vector<float> fill(std::mt19937& random, float scale = 1) {
    std::uniform_real_distribution<float> number(-scale, scale);
    std::vector<float> values(static_cast<std::size_t>(elements_));
    for (std::int64_t i = 0; i < elements_; ++i) {
      values[static_cast<std::size_t>(i)] = gpu::roundTo(type_, number(random));
      set(i, values[static_cast<std::size_t>(i)]);
    }
    return values;
  }
  [[nodiscard]] std::int64_t elements() const { return elements_; }

 private:
  DType type_;
  std::int64_t elements_;
  std::size_t bytes_, begin_ = 0;
  std::vector<std::uint8_t> memory_;
};

const std::vector<std::int64_t> kSizes{1, 7, 8, 255, 4096, 10'007};
const std::vector<DType> kFloating{DType::fp32, DType::bf16, DType::fp16};

}  // namespace

TEST_CASE("cuda kernels: cast converts and adds, whatever the types, sizes and alignments") {
  std::mt19937 random(11);
  for (const DType from : kFloating)
    for (const DType to : kFloating)
      for (const std::int64_t elements : kSizes)
        for (const int skew : {0, 1, 3}) {
          const bool add = random() % 2 == 0;
          Guarded x(from, elements, skew), y(to, elements, random() % 2 == 0 ? skew : 2);
          const std::vector<float> source = x.fill(random), before = y.fill(random);
          REQUIRE(launchCast(kContext, x.data(), from, y.data(), to, elements, add) == 0);
          CHECK(x.surroundingsIntact());
          CHECK(y.surroundingsIntact());
          std::int64_t wrong = 0;
          for (std::int64_t i = 0; i < elements; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const float expected = gpu::roundTo(to, add ? before[at] + source[at] : source[at]);
            wrong += y.get(i) != expected ? 1 : 0;
          }
          INFO(core::name(from) << " to " << core::name(to) << ", " << elements << " elements, skew "
                                << skew);
          CHECK(wrong == 0);
        }
}

TEST_CASE("cuda kernels: casts round every kind of number to nearest even") {
  std::mt19937 random(3);
  std::vector<float> values{0.0F,
                            -0.0F,
                            65504.0F,
                            65519.99F,
                            65520.0F,
                            -1e9F,
                            1e-8F,
                            6.1e-5F,
                            5.96e-8F,
                            2.98e-8F,
                            1.0F + 1.0F / 256,
                            1.0F + 3.0F / 256,
                            1.0F + 1.0F / 2048,
                            1.0F + 3.0F / 2048,
                            std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::denorm_min()};
  while (values.size() < 20'000) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isnan(value)) values.push_back(value);
  }
  const auto elements = static_cast<std::int64_t>(values.size());
  for (const DType to : {DType::bf16, DType::fp16}) {
    Guarded y(to, elements);
    REQUIRE(launchCast(kContext, values.data(), DType::fp32, y.data(), to, elements, false) == 0);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < elements; ++i)
      wrong += y.get(i) != gpu::roundTo(to, values[static_cast<std::size_t>(i)]) ? 1 : 0;
    CHECK(wrong == 0);
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::uint16_t out = 0;
  REQUIRE(launchCast(kContext, &nan, DType::fp32, &out, DType::bf16, 1, false) == 0);
  CHECK((out & 0x7fffU) > 0x7f80U);
  REQUIRE(launchCast(kContext, &nan, DType::fp32, &out, DType::fp16, 1, false) == 0);
  CHECK((out & 0x7fffU) > 0x7c00U);
  CHECK(launchCast(kContext, &nan, DType::fp32, &out, DType::int32, 1, false) == kUnsupportedTypes);
  CHECK(launchCast(kContext, nullptr, DType::fp32, nullptr, DType::fp32, 0, false) == 0);
}

TEST_CASE("cuda kernels: scale, by a factor or by a norm") {
  std::mt19937 random(5);
  for (const DType type : kFloating)
    for (const std::int64_t elements : kSizes) {
      Guarded x(type, elements, static_cast<int>(random() % 4));
      const std::vector<float> before = x.fill(random);
      REQUIRE(launchScale(kContext, x.data(), type, elements, 0.37F) == 0);
      for (std::int64_t i = 0; i < elements; ++i)
        REQUIRE(x.get(i) == gpu::roundTo(type, before[static_cast<std::size_t>(i)] * 0.37F));
      CHECK(x.surroundingsIntact());
    }
  float values[3] = {3, 0, 4};
  const float norm = 25;
  REQUIRE(launchScale(kContext, values, DType::fp32, 3, 9, &norm) == 0);
  CHECK(values[0] == Approx(0.6));
  CHECK(values[2] == Approx(0.8));
}

TEST_CASE("cuda kernels: synthetic numbers are those of the host, bit by bit") {
  const gpu::InitialValues reference({.seed = 7, .name = "L1.weight", .coordinate = 2});
  for (const DType type : kFloating)
    for (const std::int64_t elements : kSizes) {
      const std::int64_t first = elements == 8 ? (std::int64_t{1} << 33U) + 5 : elements / 3;
      Guarded x(type, elements, 1);
      REQUIRE(launchFillSynthetic(kContext, x.data(), type, reference.base(), first, elements) == 0);
      for (std::int64_t i = 0; i < elements; ++i)
        REQUIRE(x.get(i) == gpu::roundTo(type, reference(first + i)));
      CHECK(x.surroundingsIntact());
    }
}

TEST_CASE("cuda kernels: synthetic fp8 is e4m3, rounded to the nearest") {
  constexpr std::int64_t kElements = 5001;
  Guarded x(DType::fp8, kElements, 1);
  const gpu::InitialValues reference({.seed = 1, .name = "w", .coordinate = 0});
  REQUIRE(launchFillSynthetic(kContext, x.data(), DType::fp8, reference.base(), 0, kElements) == 0);
  for (std::int64_t i = 0; i < kElements; ++i) {
    const std::uint8_t bits = x.as<std::uint8_t>()[i];
    const int exponent = (bits >> 3U) & 15, fraction = bits & 7;
    const float size = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -9)
                                     : std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
    const float value = (bits & 0x80U) != 0 ? -size : size, exact = reference(i);
    const float step = std::ldexp(1.0F, std::max(-9, std::ilogb(exact) - 3));
    REQUIRE(std::abs(value - exact) <= step / 2);
  }
  CHECK(x.surroundingsIntact());
}

TEST_CASE("cuda kernels: AdamW is core's reference, bit by bit") {
  std::mt19937 random(17);
  for (const DType parameterType : {DType::fp32, DType::bf16})
    for (const DType gradientType : {DType::fp32, DType::bf16})
      for (const std::int64_t elements : kSizes) {
        const int skew = static_cast<int>(random() % 4);
        Guarded parameters(parameterType, elements, skew), gradients(gradientType, elements, skew);
        Guarded first(DType::fp32, elements, random() % 2 == 0 ? skew : 1),
            second(DType::fp32, elements, skew);
        const auto p = parameters.fill(random), g = gradients.fill(random), m = first.fill(random);
        auto v = second.fill(random);
        for (std::size_t i = 0; i < v.size(); ++i) second.as<float>()[i] = v[i] = std::abs(v[i]);
        const int step = 1 + static_cast<int>(random() % 900);
        const core::AdamwParameters settings{.learningRate = 3e-3F};
        gpu::device::AdamWCall call{.parameters = parameters.data(),
                                    .gradients = gradients.data(),
                                    .first = first.as<float>(),
                                    .second = second.as<float>(),
                                    .parameterType = parameterType,
                                    .gradientType = gradientType,
                                    .elements = elements,
                                    .step = step};
        call.learningRate = settings.learningRate;
        call.beta1 = settings.beta1;
        call.beta2 = settings.beta2;
        call.epsilon = settings.epsilon;
        call.weightDecay = settings.weightDecay;
        REQUIRE(launchAdamW(kContext, call) == 0);
        for (std::int64_t i = 0; i < elements; ++i) {
          const auto at = static_cast<std::size_t>(i);
          const core::AdamwState expected = core::adamwStep({p[at], m[at], v[at]}, g[at], step, settings);
          REQUIRE(parameters.get(i) == gpu::roundTo(parameterType, expected.parameter));
          REQUIRE(first.as<float>()[at] == expected.exponentialAverage);
          REQUIRE(second.as<float>()[at] == expected.exponentialAverageSquare);
        }
        CHECK(parameters.surroundingsIntact());
        CHECK(first.surroundingsIntact());
        CHECK(second.surroundingsIntact());
      }
}

TEST_CASE("cuda kernels: squared norm adds to what is there, and leaves its counter at zero") {
  std::mt19937 random(23);
  std::vector<float> partials(kReductionBlocks);
  unsigned int done = 0;
  for (const DType type : kFloating)
    for (const std::int64_t elements : {std::int64_t{1}, std::int64_t{37}, std::int64_t{70'001}}) {
      Guarded x(type, elements, static_cast<int>(random() % 4));
      const std::vector<float> values = x.fill(random);
      double expected = 2.5;
      for (const float value : values) expected += static_cast<double>(value) * value;
      float sum = 2.5F;
      REQUIRE(launchSquaredNorm(kContext, x.data(), type, elements, {partials.data(), &done}, &sum) == 0);
      CHECK(sum == Approx(expected).epsilon(1e-5));
      CHECK(done == 0);
      float again = 2.5F;
      REQUIRE(launchSquaredNorm(kContext, x.data(), type, elements, {partials.data(), &done}, &again) == 0);
      CHECK(again == sum);
    }
}

TEST_CASE("cuda kernels: quantize and dequantize, blocks of any size") {
  std::mt19937 random(29);
  for (const std::int64_t block : {1, 3, 64, 100, 256, 1024, 1500, 4096})
    for (const std::int64_t elements :
         {std::int64_t{1}, block, 3 * block + block / 2 + 1, std::int64_t{5003}}) {
      const int skew = static_cast<int>(random() % 2);
      const std::int64_t blocks = (elements + block - 1) / block;
      Guarded values(DType::fp32, elements, skew), scales(DType::fp32, blocks),
          codes(DType::uint8, elements, 0), back(DType::fp32, elements, skew);
      std::vector<float> v = values.fill(random, 40);
      for (std::int64_t i = 0; i < std::min(block, elements); ++i)  // a block of zeros
        if (blocks > 1) values.as<float>()[i] = v[static_cast<std::size_t>(i)] = 0;
      const gpu::device::QuantizeCall call{.values = values.as<float>(),
                                           .codes = codes.as<std::int8_t>(),
                                           .scales = scales.as<float>(),
                                           .elements = elements,
                                           .block = block};
      REQUIRE(launchQuantize(kContext, call) == 0);
      REQUIRE(launchDequantize(kContext, call, back.as<float>()) == 0);
      INFO(elements << " elements, blocks of " << block);
      for (std::int64_t b = 0; b < blocks; ++b) {
        float most = 0;
        const std::int64_t end = std::min(elements, (b + 1) * block);
        for (std::int64_t i = b * block; i < end; ++i)
          most = std::max(most, std::abs(v[static_cast<std::size_t>(i)]));
        const float scale = most / 127.0F;
        REQUIRE(scales.as<float>()[b] == scale);
        for (std::int64_t i = b * block; i < end; ++i) {
          const float code = scale > 0 ? std::nearbyint(v[static_cast<std::size_t>(i)] / scale) : 0;
          REQUIRE(static_cast<float>(codes.as<std::int8_t>()[i]) == std::clamp(code, -127.0F, 127.0F));
          REQUIRE(back.as<float>()[i] == static_cast<float>(codes.as<std::int8_t>()[i]) * scale);
        }
      }
      CHECK(codes.surroundingsIntact());
      CHECK(scales.surroundingsIntact());
      CHECK(back.surroundingsIntact());
    }
}

TEST_CASE("cuda kernels: softmax and its gradient, masked") {
  std::mt19937 random(31);
  for (int round = 0; round < 12; ++round) {
    const std::int64_t sequence = 1 + static_cast<std::int64_t>(random() % 300),
                       pitch = (sequence + 7) / 8 * 8;
    const std::int64_t units = 1 + static_cast<std::int64_t>(random() % 2),
                       rows = 1 + static_cast<std::int64_t>(random() % 20);
    SoftmaxCall call{.dtype = DType::fp32, .units = units, .rows = rows, .columns = sequence, .pitch = pitch};
    call.firstRow = static_cast<std::int64_t>(random() % 500);
    call.sequence = sequence;
    call.window = random() % 2 == 0 ? 0 : 1 + static_cast<std::int64_t>(random() % 50);
    call.causal = random() % 2 == 0;
    call.scale = 0.25F;
    Guarded scores(DType::fp32, units * rows * pitch), gradients(DType::fp32, units * rows * pitch);
    const std::vector<float> s = scores.fill(random, 20), g = gradients.fill(random);
    call.scores = scores.data();
    REQUIRE(launchSoftmax(kContext, call) == 0);
    call.gradients = gradients.data();
    REQUIRE(launchSoftmax(kContext, call) == 0);
    for (std::int64_t row = 0; row < units * rows; ++row) {
      const std::int64_t position = (call.firstRow + row % rows) % sequence;
      const auto seen = [&](std::int64_t key) {
        if (call.causal && key > position) return false;
        return call.window == 0 || std::abs(key - position) < call.window;
      };
      double most = -1e30, sum = 0, dot = 0;
      const auto at = [&](std::int64_t key) { return static_cast<std::size_t>(row * pitch + key); };
      for (std::int64_t k = 0; k < sequence; ++k)
        if (seen(k)) most = std::max(most, s[at(k)] * 0.25);
      for (std::int64_t k = 0; k < sequence; ++k) sum += seen(k) ? std::exp(s[at(k)] * 0.25 - most) : 0.0;
      const auto p = [&](std::int64_t k) { return seen(k) ? std::exp(s[at(k)] * 0.25 - most) / sum : 0.0; };
      for (std::int64_t k = 0; k < sequence; ++k) dot += p(k) * g[at(k)];
      for (std::int64_t k = 0; k < sequence; ++k) {
        REQUIRE(scores.get(row * pitch + k) == Approx(p(k)).margin(1e-6));
        REQUIRE(gradients.get(row * pitch + k) == Approx(p(k) * (g[at(k)] - dot) * 0.25).margin(1e-6));
      }
      for (std::int64_t k = sequence; k < pitch; ++k) REQUIRE(scores.get(row * pitch + k) == s[at(k)]);
    }
  }
}

TEST_CASE("cuda kernels: touch writes its target alone, with what it read or numbers of its own") {
  for (const std::size_t bytes : {std::size_t{32}, std::size_t{1000}, std::size_t{100'000}})
    for (const std::int64_t read : {0, 1, 5000, 400'000})
      for (const std::int64_t written : {0, 1, 5000, 400'000}) {
        const int skew = bytes == 32 ? 0 : 5;
        const auto size = static_cast<std::int64_t>(bytes);
        Guarded source(DType::uint8, size, skew), target(DType::uint8, size, skew);
        REQUIRE(launchFillSynthetic(kContext, source.as<char>() + (skew == 0 ? 0 : 11), DType::bf16, 3, 0,
                                    (size - 16) / 2) == 0);
        std::vector<std::uint8_t> before(bytes);
        std::memcpy(before.data(), source.data(), bytes);
        std::memset(target.data(), 0, bytes);
        REQUIRE(launchTouch(kContext, {source.data(), target.data(), bytes, bytes, read, written}) == 0);
        CHECK(source.surroundingsIntact());
        CHECK(target.surroundingsIntact());
        CHECK(std::memcmp(before.data(), source.data(), bytes) == 0);
        const auto* const all = target.as<std::uint8_t>();
        const auto zeros = std::count(all, all + bytes, std::uint8_t{0});
        CHECK((zeros == size) == (written == 0));
        // Numbers have few bytes that are zero: far fewer than two in 16.
        const std::int64_t packs = (size - (skew == 0 ? 0 : 11)) / 16;
        const std::int64_t filled = planTouch(packs, packs, read, written).writeLength;
        CHECK(zeros <= size - filled * 14);
      }
  std::vector<std::uint8_t> small(40);
  CHECK(launchTouch(kContext, {small.data(), small.data(), 8, 8, 100, 0}) == kInvalidValue);
  CHECK(launchTouch(kContext, {small.data(), small.data(), 40, 8, 100, 1}) == kInvalidValue);
  CHECK(launchTouch(kContext, {small.data(), small.data(), 8, 8, 0, 0}) == 0);
  CHECK(launchEmpty(kContext) == 0);
}

TEST_CASE("cuda plans: memory traffic is read and written in equally many rounds") {
  const TouchPlan once = planTouch(1000, 1000, 16'000, 8'000);
  CHECK((once.reads == 1000 && once.readLength == 1000 && once.writes == 500 && once.writeLength == 500));
  const TouchPlan often = planTouch(100, 1000, 16 * 1000, 16 * 700);
  CHECK((often.readLength == 100 && often.writeLength == 70));
  const TouchPlan nothing = planTouch(0, 10, 0, 16 * 100);
  CHECK((nothing.readLength == 0 && nothing.writeLength == 10));
}
