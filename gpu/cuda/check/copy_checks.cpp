#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "gpu/cuda/check/checks.h"
#include "gpu/rounding.h"
#include "gpu/synthetic.h"

namespace vsim::gpu::cuda {
namespace {

using core::DType;
using device::CopySegment;

struct Segments {
  std::vector<CopySegment> list;
  std::int64_t longest = 0, elements = 0, sourceElements = 0, targetElements = 0;

  void add(std::int64_t count, std::int64_t gap) {
    list.push_back({.from = sourceElements, .to = 0, .count = count});
    sourceElements += count + gap;
    longest = std::max(longest, count);
    elements += count;
  }
  void place(std::mt19937& random) {
    std::shuffle(list.begin(), list.end(), random);
    for (CopySegment& segment : list) {
      segment.to = targetElements;
      targetElements += segment.count + static_cast<std::int64_t>(random() % 4);
    }
  }
};

Segments randomSegments(std::mt19937& random, int count, std::int64_t most, std::int64_t giant) {
  Segments made;
  for (int i = 0; i < count; ++i)
    made.add(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most)),
             static_cast<std::int64_t>(random() % 5));
  if (giant > 0) made.add(giant, 1);
  made.place(random);
  return made;
}

/// Segments in device memory, and the call for them.
class Copy {
 public:
  Copy(const CheckContext& c, const Segments& segments, const DeviceBuffer& from, const DeviceBuffer& to)
      : memory_(c.api, c.stream, DType::int64, static_cast<std::int64_t>(3 * segments.list.size())) {
    memory_.upload(segments.list.data());
    call_ = {.source = from.data(), .target = to.data(), .sourceType = from.type(), .targetType = to.type()};
    call_.segments = memory_.as<CopySegment>();
    call_.segmentCount = static_cast<std::int64_t>(segments.list.size());
    call_.longest = segments.longest;
    call_.elements = segments.elements;
  }
  [[nodiscard]] const device::CopyCall& call() const { return call_; }

 private:
  DeviceBuffer memory_;
  device::CopyCall call_;
};

std::string copyOf(const CheckContext& c, const Segments& segments, DType from, DType to) {
  DeviceBuffer source(c.api, c.stream, from, segments.sourceElements + 1, static_cast<int>(c.random() % 4));
  DeviceBuffer target(c.api, c.stream, to, segments.targetElements + 1, static_cast<int>(c.random() % 4));
  const auto values = c.randomValues(from, source.elements(), 100);
  const auto before = c.randomValues(to, target.elements());
  source.write(values);
  target.write(before);
  std::vector<float> expected = before;
  for (const CopySegment& s : segments.list)
    for (std::int64_t i = 0; i < s.count; ++i)
      expected[static_cast<std::size_t>(s.to + i)] =
          roundTo(to, values[static_cast<std::size_t>(s.from + i)]);
  const Copy copy(c, segments, source, target);
  require(c.api.copySegments(copy.call(), c.stream));
  std::string problem = difference(target.read(), expected);
  if (problem.empty() && !target.guardsIntact()) problem = "memory around the target was overwritten";
  return problem;
}

/// One launch that gathers from several buffers, or scatters to them, counted from the first of them.
std::string copyBetweenMany(const CheckContext& c, bool gathers) {
  constexpr std::int64_t kBuffers = 24;
  std::vector<std::unique_ptr<DeviceBuffer>> parts;
  std::vector<std::vector<float>> values;
  Segments segments;
  const DType partType = gathers ? DType::bf16 : DType::fp32, wholeType = gathers ? DType::fp32 : DType::bf16;
  for (std::int64_t b = 0; b < kBuffers; ++b) {
    const std::int64_t count = b == 7 ? 300'001 : 1 + static_cast<std::int64_t>(c.random() % 4000);
    parts.push_back(std::make_unique<DeviceBuffer>(c.api, c.stream, partType, count));
    segments.add(count, static_cast<std::int64_t>(c.random() % 3));
  }
  DeviceBuffer whole(c.api, c.stream, wholeType, segments.sourceElements + 1);
  for (const auto& part : parts) {
    values.push_back(c.randomValues(partType, part->elements(), 100));
    part->write(values.back());
  }
  std::vector<float> expected = c.randomValues(wholeType, whole.elements(), 100);
  whole.write(expected);
  const auto base = reinterpret_cast<std::intptr_t>(parts.front()->data());
  for (std::size_t b = 0; b < parts.size(); ++b) {
    CopySegment& segment = segments.list[b];
    const std::int64_t place = segment.from,
                       far = (reinterpret_cast<std::intptr_t>(parts[b]->data()) - base) /
                             core::bytesOf(partType);
    segment = gathers ? CopySegment{far, place, segment.count} : CopySegment{place, far, segment.count};
    for (std::int64_t i = 0; i < segment.count; ++i) {
      float& one = expected[static_cast<std::size_t>(place + i)];
      float& other = values[b][static_cast<std::size_t>(i)];
      gathers ? one = roundTo(wholeType, other) : other = roundTo(partType, one);
    }
  }
  const Copy copy(c, segments, gathers ? *parts.front() : whole, gathers ? whole : *parts.front());
  require(c.api.copySegments(copy.call(), c.stream));
  std::string problem = difference(whole.read(), expected);
  for (std::size_t b = 0; b < parts.size() && problem.empty(); ++b) {
    problem = difference(parts[b]->read(), values[b]);
    if (problem.empty() && !parts[b]->guardsIntact()) problem = "memory around a buffer was overwritten";
  }
  return problem;
}

}  // namespace

void checkCopies(const CheckContext& c) {
  c.check("copies from many buffers in one launch", [&] { return copyBetweenMany(c, true); });
  c.check("copies to many buffers in one launch", [&] { return copyBetweenMany(c, false); });
  const std::pair<DType, DType> kPairs[] = {{DType::fp32, DType::fp32}, {DType::bf16, DType::bf16},
                                            {DType::fp16, DType::fp16}, {DType::fp32, DType::bf16},
                                            {DType::bf16, DType::fp32}, {DType::fp32, DType::fp16},
                                            {DType::fp16, DType::fp32}};
  for (const auto& [from, to] : kPairs) {
    const std::string types = fmt::format("{} to {}", core::name(from), core::name(to));
    c.check("copies of segments, " + types, [&]() -> std::string {
      for (const auto& [count, most] : {std::pair{1, 5}, {1, 300'000}, {300, 40}, {64, 9000}})
        if (std::string problem = copyOf(c, randomSegments(c.random, count, most, 0), from, to);
            !problem.empty())
          return problem;
      return {};
    });
    c.check("copies of one giant among dwarfs, " + types, [&]() -> std::string {
      return copyOf(c, randomSegments(c.random, 3000, 30, 700'001), from, to);
    });
  }
}

void checkHuge(const CheckContext& c) {
  constexpr std::int64_t kElements = (std::int64_t{1} << 31U) + 4099, kEdge = std::int64_t{1} << 31U;
  const std::string name = "more than 2^31 elements: fill, copy, cast, norm";
  core::Bytes free = 0, total = 0;
  if (const device::Status status = c.api.memoryInfo(free, total); !status.ok())
    return c.table.result(name, false, status.text);
  const core::Bytes needed = 3 * kElements * core::bytesOf(DType::bf16);  // x, its copy, and room
  if (free < needed)
    return c.table.skip(name, fmt::format("needs {} GB of memory, {} GB are free", needed / 1'000'000'000,
                                          free / 1'000'000'000));
  c.check(name, [&]() -> std::string {
    const InitialValues reference({.seed = 5, .name = "huge", .coordinate = 0});
    DeviceBuffer x(c.api, c.stream, DType::bf16, kElements), y(c.api, c.stream, DType::bf16, kElements, 1);
    DeviceBuffer sum(c.api, c.stream, DType::fp32, 1);
    sum.write({0});
    const auto wrong = [&](const DeviceBuffer& buffer, const char* what) -> std::string {
      for (const std::int64_t first : {std::int64_t{0}, kEdge - 2000, kElements - 4000}) {
        std::vector<float> expected(4000);
        for (std::int64_t i = 0; i < 4000; ++i)
          expected[static_cast<std::size_t>(i)] = roundTo(DType::bf16, reference(first + i));
        if (std::string problem = difference(buffer.read(first, 4000), expected); !problem.empty())
          return fmt::format("{} from element {}: {}", what, first, problem);
      }
      return buffer.guardsIntact() ? "" : std::string(what) + ": memory around was overwritten";
    };
    require(c.api.fillSynthetic(x.data(), DType::bf16, reference.base(), 0, kElements, c.stream));
    if (std::string problem = wrong(x, "fill"); !problem.empty()) return problem;
    Segments segments;
    segments.add(kEdge + 5, 0);
    segments.add(kElements - kEdge - 5, 0);
    segments.list[1].to = segments.list[0].count;
    const Copy copy(c, segments, x, y);
    require(c.api.copySegments(copy.call(), c.stream));
    if (std::string problem = wrong(y, "copy"); !problem.empty()) return problem;
    require(c.api.fillBytes(y.data(), 0x77, static_cast<std::size_t>(2 * kElements), c.stream));
    require(c.api.cast(x.data(), DType::bf16, y.data(), DType::bf16, kElements, false, c.stream));
    if (std::string problem = wrong(y, "cast"); !problem.empty()) return problem;
    require(c.api.squaredNorm(x.data(), DType::bf16, kElements, sum.as<float>(), c.stream));
    const double mean = sum.read()[0] / static_cast<double>(kElements);
    // Uniform in [-1, 1): the mean square is a third.
    if (!(mean > 0.333 && mean < 0.3337)) return fmt::format("mean square {} instead of 0.3333", mean);
    return {};
  });
}

}  // namespace vsim::gpu::cuda
