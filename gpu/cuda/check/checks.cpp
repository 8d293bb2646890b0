#include "gpu/cuda/check/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>

#include "gpu/rounding.h"

namespace vsim::gpu::cuda {
namespace {

constexpr std::size_t kGuard = 4096;
constexpr int kPattern = 0xa5;

const char* word(CheckRow::State state) {
  constexpr const char* kWords[] = {"ok", "FAILED", "skipped", "info"};
  return kWords[static_cast<std::size_t>(state)];
}

float decodeHalf(std::uint16_t bits) {
  const int exponent = (bits >> 10U) & 31, fraction = bits & 0x3ff;
  float size = std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  if (exponent == 0) size = std::ldexp(static_cast<float>(fraction), -24);
  if (exponent == 31)
    size = fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  return (bits & 0x8000U) != 0 ? -size : size;
}

std::uint16_t encodeHalf(float value) {
  int exponent = 0;
  const float size = std::frexp(std::abs(value), &exponent);
  std::uint32_t bits = 0;
  if (size != 0 && exponent < -13) bits = static_cast<std::uint32_t>(std::ldexp(std::abs(value), 24));
  if (size != 0 && exponent >= -13)
    bits =
        static_cast<std::uint32_t>(exponent + 13) * 1024U + static_cast<std::uint32_t>(std::ldexp(size, 11));
  return static_cast<std::uint16_t>(bits | (std::signbit(value) ? 0x8000U : 0U));
}

float decodeFp8(std::uint8_t bits) {
  const int exponent = (bits >> 3U) & 15, fraction = bits & 7;
  float size = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -9)
                             : std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
  if ((bits & 0x7fU) == 0x7fU) size = std::numeric_limits<float>::quiet_NaN();
  return (bits & 0x80U) != 0 ? -size : size;
}

}  // namespace

void CheckTable::add(CheckRow row) {
  fmt::print("{:<58} {:<8} {}\n", row.name, word(row.state), row.text);
  std::fflush(stdout);
  rows_.push_back(std::move(row));
}

void CheckTable::result(const std::string& name, bool passed, const std::string& text) {
  add({.name = name, .state = passed ? CheckRow::State::passed : CheckRow::State::failed, .text = text});
}

void CheckTable::skip(const std::string& name, const std::string& why) {
  add({.name = name, .state = CheckRow::State::skipped, .text = why});
}

void CheckTable::measured(const std::string& name, double value, const std::string& unit, double bar,
                          const std::string& text, double most) {
  CheckRow row{.name = name, .state = CheckRow::State::information, .value = value, .unit = unit};
  row.bar = bar;
  row.most = most;
  const bool good = value >= bar && (most <= 0 || value <= most);
  if (bar > 0 || most > 0) row.state = good ? CheckRow::State::passed : CheckRow::State::failed;
  row.text = fmt::format("{:.4g} {}", value, unit);
  if (bar > 0 && most > 0)
    row.text += fmt::format(" ({:.4g} to {:.4g})", bar, most);
  else if (bar > 0)
    row.text += fmt::format(" (at least {:.4g})", bar);
  if (!text.empty()) row.text += "; " + text;
  add(std::move(row));
}

int CheckTable::count(CheckRow::State state) const {
  return static_cast<int>(
      std::count_if(rows_.begin(), rows_.end(), [state](const CheckRow& row) { return row.state == state; }));
}

void require(const device::Status& status) {
  if (!status.ok()) throw DeviceFailure{status.text};
}

DeviceBuffer::DeviceBuffer(device::Api& api, device::Stream stream, core::DType type, std::int64_t elements,
                           int skew)
    : api_(api),
      stream_(stream),
      type_(type),
      elements_(elements),
      begin_(kGuard + static_cast<std::size_t>(skew * core::bytesOf(type))),
      bytes_(static_cast<std::size_t>(elements * core::bytesOf(type))) {
  require(api_.allocate(memory_, begin_ + bytes_ + kGuard));
  require(api_.fillBytes(memory_, kPattern, begin_ + bytes_ + kGuard, stream_));
}

DeviceBuffer::~DeviceBuffer() {
  // Nothing can be done about errors here; the next call reports them.
  (void)api_.synchronize(stream_);
  (void)api_.free(memory_);
}

void DeviceBuffer::upload(const void* from) {
  if (bytes_ == 0) return;
  require(api_.copyToDevice(data(), from, bytes_, stream_));
  require(api_.synchronize(stream_));
}

std::vector<std::uint8_t> DeviceBuffer::download(std::int64_t first, std::int64_t count) const {
  const std::int64_t element = core::bytesOf(type_);
  std::vector<std::uint8_t> bytes(
      static_cast<std::size_t>((count < 0 ? elements_ - first : count) * element));
  if (bytes.empty()) return bytes;
  require(api_.copyToHost(bytes.data(), static_cast<char*>(data()) + first * element, bytes.size(), stream_));
  require(api_.synchronize(stream_));
  return bytes;
}

void DeviceBuffer::write(const std::vector<float>& values) { upload(encode(type_, values).data()); }

std::vector<float> DeviceBuffer::read(std::int64_t first, std::int64_t count) const {
  return decode(type_, download(first, count));
}

bool DeviceBuffer::guardsIntact() const {
  std::vector<std::uint8_t> before(begin_), behind(kGuard);
  require(api_.copyToHost(before.data(), memory_, before.size(), stream_));
  require(api_.copyToHost(behind.data(), static_cast<char*>(memory_) + begin_ + bytes_, kGuard, stream_));
  require(api_.synchronize(stream_));
  const auto pattern = [](std::uint8_t byte) { return byte == kPattern; };
  return std::all_of(before.begin(), before.end(), pattern) &&
         std::all_of(behind.begin(), behind.end(), pattern);
}

std::vector<float> CheckContext::randomValues(core::DType type, std::int64_t elements, float scale) const {
  std::uniform_real_distribution<float> number(-scale, scale);
  std::vector<float> values(static_cast<std::size_t>(elements));
  for (float& value : values) value = roundTo(type, number(random));
  return values;
}

void CheckContext::check(const std::string& name, const std::function<std::string()>& body) const {
  try {
    const std::string problem = body();
    table.result(name, problem.empty(), problem);
  } catch (const DeviceFailure& failure) {
    table.result(name, false, failure.text);
  }
}

double CheckContext::seconds(int repetitions, const std::function<device::Status()>& call) const {
  device::Event begin = nullptr, end = nullptr;
  require(api.createEvent(begin, true));
  require(api.createEvent(end, true));
  std::vector<double> times;
  for (int i = -2; i < repetitions; ++i) {
    require(api.record(begin, stream));
    require(call());
    require(api.record(end, stream));
    require(api.synchronize(stream));
    double milliseconds = 0;
    require(api.elapsed(begin, end, milliseconds));
    if (i >= 0) times.push_back(milliseconds * 1e-3);
  }
  require(api.destroyEvent(begin));
  require(api.destroyEvent(end));
  std::sort(times.begin(), times.end());
  return std::max(times[times.size() / 2], 1e-9);
}

std::string difference(const std::vector<float>& found, const std::vector<float>& expected,
                       double tolerance) {
  if (found.size() != expected.size())
    return fmt::format("{} values instead of {}", found.size(), expected.size());
  std::size_t count = 0, first = 0;
  double worst = 0;
  for (std::size_t i = found.size(); i-- > 0;) {
    const double apart = std::abs(static_cast<double>(found[i]) - expected[i]);
    // Not "apart > tolerance": a NaN differs.
    if (found[i] == expected[i] || apart <= tolerance) continue;
    ++count;
    first = i;
    worst = std::max(worst, apart);
  }
  if (count == 0) return {};
  return fmt::format("{} of {} values differ, the first at {}: {} instead of {}; largest difference {:.3g}",
                     count, found.size(), first, found[first], expected[first], worst);
}

std::vector<std::uint8_t> encode(core::DType type, const std::vector<float>& values) {
  const auto size = static_cast<std::size_t>(core::bytesOf(type));
  std::vector<std::uint8_t> bytes(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t bits = std::bit_cast<std::uint32_t>(values[i]);
    if (type == core::DType::bf16) bits >>= 16U;
    if (type == core::DType::fp16) bits = encodeHalf(values[i]);
    for (std::size_t b = 0; b < size; ++b) bytes[i * size + b] = static_cast<std::uint8_t>(bits >> (8 * b));
  }
  return bytes;
}

std::vector<float> decode(core::DType type, const std::vector<std::uint8_t>& bytes) {
  const auto size = static_cast<std::size_t>(core::bytesOf(type));
  std::vector<float> values(bytes.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t bits = 0;
    for (std::size_t b = 0; b < size; ++b) bits |= std::uint32_t{bytes[i * size + b]} << (8 * b);
    if (type == core::DType::fp8)
      values[i] = decodeFp8(static_cast<std::uint8_t>(bits));
    else if (type == core::DType::fp16)
      values[i] = decodeHalf(static_cast<std::uint16_t>(bits));
    else
      values[i] = std::bit_cast<float>(type == core::DType::bf16 ? bits << 16U : bits);
  }
  return values;
}

}  // namespace vsim::gpu::cuda
