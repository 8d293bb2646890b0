#include "gui/session/watchdog.h"

#include <algorithm>
#include <ctime>

namespace vsim::gui {
namespace {

constexpr int kTickMs = 5;

double threadMs() {
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

}  // namespace

Watchdog::Watchdog(QObject* parent) : QObject(parent) {
  timer_.setTimerType(Qt::PreciseTimer);
  connect(&timer_, &QTimer::timeout, this, &Watchdog::tick);
  restart();
  timer_.start(kTickMs);
}

void Watchdog::restart() {
  clock_.start();
  lastBusyMs_ = threadMs();
  longestMs_ = longestBusyMs_ = 0;
}

void Watchdog::tick() {
  const double passed = std::max(0.0, 1e-6 * static_cast<double>(clock_.nsecsElapsed()) - kTickMs);
  const double now = threadMs(), busy = now - lastBusyMs_;
  clock_.start();
  lastBusyMs_ = now;
  longestMs_ = std::max(longestMs_, passed);
  longestBusyMs_ = std::max(longestBusyMs_, busy);
  if (passed > kLimitMs) emit blocked(passed, busy);
}

}  // namespace vsim::gui
