#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string>
#include <vector>

namespace vsim::bench {

/// Milliseconds of single frames. Counters: p50, p95 and the worst of the clock, and cpu_*: of the thread's
/// own time, which a machine shared with others does not stretch.
class FrameTimes {
 public:
  template <class Draw>
  void time(Draw draw) {
    const auto begin = std::chrono::steady_clock::now();
    const double busy = threadMs();
    draw();
    busy_.push_back(threadMs() - busy);
    clock_.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  void report(benchmark::State& state, const std::string& name = {}) {
    report(state, clock_, name);
    report(state, busy_, name + "cpu_");
  }

 private:
  static double threadMs() {
    std::timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
  }
  static void report(benchmark::State& state, std::vector<double>& times, const std::string& prefix) {
    std::sort(times.begin(), times.end());
    const auto at = [&](double share) {
      return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
    };
    state.counters[prefix + "p50_ms"] = at(0.5);
    state.counters[prefix + "p95_ms"] = at(0.95);
    state.counters[prefix + "max_ms"] = times.back();
  }

  std::vector<double> clock_, busy_;
};

}  // namespace vsim::bench
