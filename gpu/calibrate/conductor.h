#pragma once

#include <map>
#include <string>
#include <vector>

#include "gpu/calibrate/schedule.h"

namespace vsim::gpu {

/// Goes through a schedule on a machine. Every process of the job has one with an equal schedule. The leader
/// decides what is executed next and broadcasts it as text, "12 40 9 | title": number of the measurement, its
/// counts, its title; "stop" ends it. The others execute what they are told, and refuse when their schedule
/// has another measurement there.
class Conductor {
 public:
  Conductor(Machine& machine, const CalibrationOptions& options, Schedule& schedule);

  core::Result<void> run();

  struct Outcome {
    int measured = 0;
    double seconds = 0;
    std::vector<std::string> notes;
    std::string remark;  // what the profile itself should say: a machine whose speed changed
    ClockReadings clocks;
  };
  /// Leader only.
  [[nodiscard]] Outcome outcome() const;

 private:
  struct Turn {
    std::size_t index = 0;
    Counts counts{};
  };
  [[nodiscard]] double now() const { return clock_() - begin_; }
  [[nodiscard]] std::string decide();
  void beginMeasurement();
  [[nodiscard]] bool wants() const;
  [[nodiscard]] double expectedSeconds(const Measurement& measurement) const;
  void learn(const Measurement& measurement);
  void tell() const;
  [[nodiscard]] std::string command(const Counts& counts) const;
  [[nodiscard]] core::Result<Turn> understand(const std::string& text) const;
  [[nodiscard]] core::Result<void> execute(const Turn& turn);

  Machine& machine_;
  const CalibrationOptions& options_;
  Schedule& schedule_;
  std::function<double()> clock_;
  double begin_ = 0;

  /// Measurements of a program's work come twice: all of them once, then again as far as there is time.
  struct Visit {
    std::size_t index = 0;
    bool again = false;
  };
  [[nodiscard]] const Planned& planned() const { return schedule_.measurements[visits_[at_].index]; }
  [[nodiscard]] double weightOf(const Visit& visit) const;
  void finishVisit();
  void scheduleAgain();

  std::vector<Visit> visits_;
  std::vector<std::size_t> again_;  // to be visited again before what is no program's
  std::size_t at_ = 0, begun_ = 0;
  bool running_ = false;  // the measurement of the visit has begun
  int executions_ = 0;    // of it
  double share_ = 0, since_ = 0;
  double weightLeft_ = 0, weightDone_ = 0, weightAll_ = 0;
  std::map<std::string, std::map<double, double>> families_;  // family -> work -> seconds of one repetition
  std::vector<std::string> skipped_;
};

}  // namespace vsim::gpu
