#pragma once

#include <string>

namespace vsim::cli {

/// One line on standard error that says what is being done and how much of it; nothing unless standard error
/// is a terminal. The line is wiped when the object goes.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// `fraction` from 0 to 1; `remainingSeconds` below 0: not known.
  void show(const std::string& what, double fraction, double remainingSeconds = -1);

 private:
  bool isTerminal_;
  std::string shown_;
};

}  // namespace vsim::cli
