#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

namespace vsim::gui {

/// Watches how long the window's thread is away from its events. Made in that thread; ticks every 5 ms while
/// it lives. In debug builds the window holds one that warns; tests read the figures.
class Watchdog : public QObject {
  Q_OBJECT
 public:
  static constexpr double kLimitMs = 50;
  explicit Watchdog(QObject* parent = nullptr);

  /// Longest stretch between two ticks, ms: as the user feels it, other processes' share included.
  [[nodiscard]] double longestMs() const { return longestMs_; }
  /// Longest stretch of the thread's own computing between two ticks, ms: what the program is to blame for.
  [[nodiscard]] double longestBusyMs() const { return longestBusyMs_; }
  void restart();

 signals:
  void blocked(double milliseconds, double busyMilliseconds);

 private:
  void tick();

  QTimer timer_;
  QElapsedTimer clock_;
  double lastBusyMs_ = 0, longestMs_ = 0, longestBusyMs_ = 0;
};

}  // namespace vsim::gui
