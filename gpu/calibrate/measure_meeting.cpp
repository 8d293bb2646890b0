#include "gpu/calibrate/measure_meeting.h"

#include <algorithm>
#include <array>

namespace vsim::gpu {

namespace {

constexpr int kMost = 4000;
/// So many say how long one takes even where all together are short.
constexpr std::size_t kMany = 400;
constexpr int kWarmUp = 1;
/// Some of the scheduler's time slices: shorter windows say how long a repetition takes, and no more.
constexpr double kShortestWindow = 0.02;
/// Of an execution: its parts are then long enough though the ranks do not begin and end them together.
constexpr double kShortestExecution = 0.3;
/// An execution is cut into samples of this length, in which all ranks were served.
constexpr double kSample = 0.04;
constexpr int kMostSamples = 8;
/// Of the time of a collective; a kernel that made no progress beside one would never end.
constexpr double kMostLost = 0.8;

/// Slices of the program's three parts: products alone, meetings, one ahead. [rank]
struct Part {
  std::vector<Repetitions> products, collectives;
};

std::array<Part, 3> partsOf(const core::ExecutionLog& log) {
  const auto& step = log.program->step;
  std::vector<std::size_t> partOf;  // [instruction]: hooks stand between the parts
  std::size_t part = 0;
  for (const core::Instruction& instruction : step) {
    if (instruction.kind == core::InstructionKind::hook) ++part;
    partOf.push_back(part);
  }
  std::array<Part, 3> result;
  for (Part& one : result) {
    one.products.resize(log.ranks.size());
    one.collectives.resize(log.ranks.size());
  }
  for (std::size_t rank = 0; rank < log.ranks.size(); ++rank)
    for (const core::Slice& slice : log.ranks[rank].slices) {
      Part& one = result[partOf[slice.instruction]];
      const bool kernel = step[slice.instruction].kind == core::InstructionKind::kernel;
      (kernel ? one.products : one.collectives)[rank].push_back(slice);
    }
  return result;
}

/// How long one lasts once all of its ranks have come.
double lengthOf(const std::vector<Repetitions>& ranks) {
  std::vector<double> lengths;
  for (const Repetitions& list : ranks)
    for (const core::Slice& slice : list)
      lengths.push_back(core::secondsFromPicoseconds(slice.end - slice.begin));
  return median(std::move(lengths));
}

/// Seconds of a repetition in stretches of the window.
std::vector<double> stretchesOf(const std::vector<Repetitions>& ranks, Window whole) {
  std::vector<double> samples;
  if (whole.seconds() <= 0) return samples;
  const auto count =
      static_cast<core::Picoseconds>(std::clamp(whole.seconds() / kSample, 1.0, double{kMostSamples}));
  const core::Picoseconds length = whole.end - whole.begin;
  for (core::Picoseconds i = 0; i < count; ++i) {
    const Window part{whole.begin + length * i / count, whole.begin + length * (i + 1) / count};
    if (const double rate = rateIn(ranks, part); rate > 0) samples.push_back(1 / rate);
  }
  return samples;
}

}  // namespace

MeetingMeasurement::MeetingMeasurement(const CollectiveSpec& spec, int ranksPerNode, Filler filler,
                                       bool beside)
    : CollectiveMeasurement(spec, ranksPerNode, Reading::shared),
      filler_(std::move(filler)),
      beside_(beside) {}

ProgramPointer MeetingMeasurement::program(const Counts& counts) const {
  return meetingProgram(filler_.product, spec(),
                        {.alone = counts[0],
                         .meetings = counts[1],
                         .ahead = counts[2],
                         .productsBetween = filler_.count,
                         .onSide = beside_});
}

Counts MeetingMeasurement::first() const { return {4, 4, beside_ ? 4 : 0}; }

Counts MeetingMeasurement::next(double seconds) const {
  const auto count = [](double time, double each) {
    return kWarmUp + (each > 0 ? static_cast<int>(std::clamp(time / each, 3.0, double{kMost})) : 8);
  };
  const double part = std::max(seconds, kShortestExecution) / (beside_ ? 3 : 2);
  const double between = filler_.count * product_;
  return {count(part, product_), count(part, between + meeting_), beside_ ? count(part, between + lost_) : 0};
}

void MeetingMeasurement::take(const core::ExecutionLog& log) {
  const auto [alone, meetings, ahead] = partsOf(log);
  const Window window = commonWindow(alone.products, kWarmUp);
  const Window whole = commonWindow(meetings.collectives, kWarmUp);
  const double rate = rateIn(alone.products, window), meetingRate = rateIn(meetings.collectives, whole);
  if (rate <= 0 || meetingRate <= 0) {
    // So few or so short that the ranks did not meet in them: their lengths say how many there should be.
    product_ = std::max(product_, lengthOf(alone.products));
    meeting_ = std::max(meeting_, lengthOf(meetings.collectives));
    return;
  }
  product_ = 1 / rate;
  const double between = filler_.count * product_;
  // Noise of the products must not make it faster than it can be.
  const double shortest = lengthOf(meetings.collectives);
  meeting_ = std::max(shortest, 1 / meetingRate - between);
  const auto tooShort = [](Window part, const std::vector<Repetitions>& ranks) {
    return part.seconds() < kShortestWindow && ranks.front().size() < kMany;
  };
  if (tooShort(window, alone.products) || tooShort(whole, meetings.collectives)) return;
  for (const double each : stretchesOf(meetings.collectives, whole))
    added_.push_back(std::max(shortest, each - between));
  if (!beside_) return;
  const Window last = commonWindow(ahead.collectives, kWarmUp);
  for (const double each : stretchesOf(ahead.collectives, last))
    losses_.push_back(std::max(0.0, each - between));
  lost_ = median(losses_);
}

bool MeetingMeasurement::settled(double targetError) const {
  const Estimate added = estimate(added_);
  constexpr int kFewest = 4;
  // What counts is the error of a step, which the time between two collectives is part of.
  return added.samples >= kFewest &&
         (added.high - added.low) / 2 <= targetError * (added.median + filler_.count * product_);
}

// The simulator's collective lasts (1 + stretch) times its time beside kernels, which lose slowdown /
// (1 + slowdown) of that.
void MeetingMeasurement::store(core::Profile& profile, core::Origin origin) const {
  CollectiveMeasurement::store(profile, origin);
  if (losses_.empty()) return;
  const double alone = result().median, lost = median(losses_);
  const double lasts = std::max(alone, lost / kMostLost);
  core::ProfiledInterference point;
  point.kind = spec().kind;
  point.bytes = spec().bytes();
  point.ranks = spec().group.size;
  point.ranksPerNode = ranksPerNode();
  point.stretch = lasts / alone - 1;
  point.computeSlowdown = lost / (lasts - lost);
  origin.relativeError = estimate(losses_).relativeError();
  point.origin = std::move(origin);
  profile.interference.push_back(std::move(point));
}

}  // namespace vsim::gpu
