#include "gpu/calibrate/conductor.h"

#include <algorithm>
#include <chrono>
#include <sstream>

namespace vsim::gpu {

using core::fail;
using core::Result;

namespace {

constexpr char kStop[] = "stop";
/// A measurement that does not settle ends, whatever its share: noise stays noise.
constexpr int kMostExecutions = 12;
/// Executions that find out how long a repetition takes, before any sample counts.
constexpr int kExecutionsForResult = 3;
constexpr double kLongestShare = 10, kLongestExecution = 0.5, kShortestExecution = 0.02;
constexpr double kRepetitionsAtLeast = 5;
/// A measurement may take more than its share when it is the last of its kind, but not by much.
constexpr double kTolerance = 3;

double steadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string some(const std::vector<std::string>& titles) {
  constexpr std::size_t kNamed = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(titles.size(), kNamed); ++i) text += (i > 0 ? "; " : "") + titles[i];
  return titles.size() > kNamed ? text + "; ..." : text;
}

}  // namespace

Conductor::Conductor(Machine& machine, const CalibrationOptions& options, Schedule& schedule)
    : machine_(machine),
      options_(options),
      schedule_(schedule),
      clock_(options.clock ? options.clock : steadySeconds) {
  begin_ = clock_();
  for (std::size_t i = 0; i < schedule_.measurements.size(); ++i) {
    visits_.push_back({i, false});
    weightAll_ += schedule_.measurements[i].weight;
  }
  weightLeft_ = weightAll_;
}

Result<void> Conductor::run() {
  while (true) {
    const auto text = machine_.broadcast(machine_.leads() ? decide() : std::string());
    if (!text) return tl::unexpected(text.error());
    if (*text == kStop) return {};
    const auto turn = understand(*text);
    if (!turn) return tl::unexpected(turn.error());
    if (const auto done = execute(*turn); !done) return done;
  }
}

std::string Conductor::decide() {
  while (at_ < visits_.size() && now() < options_.budgetSeconds) {
    const Measurement& measurement = *planned().measurement;
    if (!running_) {
      beginMeasurement();
      const double left = options_.budgetSeconds - now();
      const double expected = expectedSeconds(measurement);
      const double limit = planned().optional ? std::min(kTolerance * share_, left) : left;
      if (expected <= limit) {
        tell();
        if (!visits_[at_].again) return command(measurement.first());
      } else {
        skipped_.push_back(measurement.title());
      }
    }
    if (wants()) {
      const double rest = std::max(0.0, share_ - (now() - since_));
      return command(measurement.next(std::clamp(rest / 2, kShortestExecution, kLongestExecution)));
    }
    finishVisit();
  }
  if (options_.progress) options_.progress("done", 1, 0);
  return kStop;
}

void Conductor::beginMeasurement() {
  running_ = true;
  executions_ = 0;
  since_ = now();
  if (!visits_[at_].again) ++begun_;
  const double weight = weightOf(visits_[at_]);
  share_ =
      std::min((options_.budgetSeconds - since_) * weight / std::max(weightLeft_, weight), kLongestShare);
}

double Conductor::weightOf(const Visit& visit) const {
  const Planned& planned = schedule_.measurements[visit.index];
  return planned.launches > 0 ? planned.weight / 2 : planned.weight;
}

bool Conductor::wants() const {
  const Measurement& measurement = *planned().measurement;
  const bool again = visits_[at_].again;
  if (executions_ == 0 && !again) return false;  // skipped
  if (!measurement.hasResult()) return executions_ < kExecutionsForResult;
  if (planned().launches > 0 && !again) return false;
  return executions_ < kMostExecutions && now() - since_ < share_ &&
         !measurement.settled(options_.targetError);
}

void Conductor::finishVisit() {
  const Visit visit = visits_[at_];
  const Measurement& measurement = *planned().measurement;
  learn(measurement);
  running_ = false;
  weightLeft_ -= weightOf(visit);
  weightDone_ += weightOf(visit);
  if (planned().launches > 0 && !visit.again) again_.push_back(visit.index);
  ++at_;
  const bool programsEnd = at_ == visits_.size() || planned().launches == 0;
  if (programsEnd && !again_.empty()) scheduleAgain();
}

// What takes most of the step first.
void Conductor::scheduleAgain() {
  const auto timeOf = [&](std::size_t index) {
    const Planned& planned = schedule_.measurements[index];
    return planned.launches * planned.measurement->secondsEach();
  };
  std::ranges::stable_sort(again_, std::ranges::greater{}, timeOf);
  std::vector<Visit> visits;
  for (const std::size_t index : again_) visits.push_back({index, true});
  visits_.insert(visits_.begin() + static_cast<std::ptrdiff_t>(at_), visits.begin(), visits.end());
  again_.clear();
}

double Conductor::expectedSeconds(const Measurement& measurement) const {
  const auto family = families_.find(measurement.family());
  if (measurement.work() <= 0 || family == families_.end() || family->second.empty()) return 0;
  auto known = family->second.upper_bound(measurement.work());
  if (known != family->second.begin()) --known;
  return kRepetitionsAtLeast * known->second * std::max(1.0, measurement.work() / known->first);
}

void Conductor::learn(const Measurement& measurement) {
  if (measurement.work() > 0 && measurement.secondsEach() > 0)
    families_[measurement.family()][measurement.work()] = measurement.secondsEach();
}

void Conductor::tell() const {
  if (!options_.progress) return;
  const double fraction = weightAll_ > 0 ? weightDone_ / weightAll_ : 1;
  const double left = options_.budgetSeconds - now();
  const double ahead = fraction > 0.02 ? now() / fraction * (1 - fraction) : left;
  options_.progress(planned().measurement->title(), fraction, std::clamp(ahead, 0.0, std::max(0.0, left)));
}

std::string Conductor::command(const Counts& counts) const {
  return fmt::format("{} {} | {}", visits_[at_].index, fmt::join(counts, " "),
                     planned().measurement->title());
}

Result<Conductor::Turn> Conductor::understand(const std::string& text) const {
  const std::size_t bar = text.find(" | ");
  std::istringstream numbers(text.substr(0, bar));
  Turn turn;
  bool good = bar != std::string::npos && static_cast<bool>(numbers >> turn.index);
  for (int count = 0; numbers >> count;) {
    turn.counts.push_back(count);
    good = good && count >= 0;
  }
  const auto& all = schedule_.measurements;
  if (!good || turn.index >= all.size() ||
      turn.counts.size() != all[turn.index].measurement->first().size() ||
      all[turn.index].measurement->title() != text.substr(bar + 3))
    return fail(fmt::format("calibration: this process cannot follow the leader's '{}'", text),
                "all processes must be of the same version and be given the same scenarios");
  return turn;
}

Result<void> Conductor::execute(const Turn& turn) {
  Measurement& measurement = *schedule_.measurements[turn.index].measurement;
  const ProgramPointer program = measurement.program(turn.counts);
  VSIM_CHECK(program != nullptr, "a scheduled measurement has a program");
  const auto log = machine_.execute(program, measurement.steps());
  if (!log) {
    core::Error error = log.error();
    error.message = fmt::format("calibration, {}: {}", measurement.title(), error.message);
    return tl::unexpected(error);
  }
  ++executions_;
  if (machine_.leads()) measurement.take(*log);
  return {};
}

Conductor::Outcome Conductor::outcome() const {
  Outcome outcome;
  outcome.seconds = now();
  std::vector<std::string> drifting, unsettled;
  for (const Planned& planned : schedule_.measurements) {
    const Measurement& m = *planned.measurement;
    if (!m.hasResult()) continue;
    ++outcome.measured;
    if (m.result().drifted())
      drifting.push_back(fmt::format("{} ({:+.0f} %)", m.title(), 100 * m.result().drift));
    if (!m.settled(options_.targetError)) unsettled.push_back(m.title());
  }
  outcome.clocks = machine_.clocks();
  if (!outcome.clocks.throttled.empty()) outcome.remark = "clocks throttled: " + outcome.clocks.throttled;
  if (!drifting.empty())
    outcome.remark += fmt::format(
        "{}the machine changed its speed (clocks throttled, or others used it) during {} measurements: {}",
        outcome.remark.empty() ? "" : "; ", drifting.size(), some(drifting));
  if (!outcome.remark.empty()) outcome.notes.push_back(outcome.remark);
  if (!unsettled.empty())
    outcome.notes.push_back(fmt::format("{} of {} measurements are less certain than {:.3g} %: {}",
                                        unsettled.size(), outcome.measured, 100 * options_.targetError,
                                        some(unsettled)));
  if (!skipped_.empty())
    outcome.notes.push_back(
        fmt::format("{} would have taken more than {} share of the time: {}",
                    skipped_.size() == 1 ? "1 measurement" : fmt::format("{} measurements", skipped_.size()),
                    skipped_.size() == 1 ? "its" : "their", some(skipped_)));
  const std::size_t all = schedule_.measurements.size();
  if (begun_ < all)
    outcome.notes.push_back(fmt::format("the time ended before {} of {} measurements, from '{}' on",
                                        all - begun_, all,
                                        schedule_.measurements[begun_].measurement->title()));
  return outcome;
}

}  // namespace vsim::gpu
