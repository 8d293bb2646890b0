#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "app/duration.h"

namespace vsim::cli {
namespace {

constexpr int kBarWidth = 24;
constexpr std::size_t kTextWidth = 40, kLeftWidth = 16;

}  // namespace

ProgressLine::ProgressLine() : isTerminal_(::isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() {
  if (!shown_.empty()) fmt::print(stderr, "\r{:{}}\r", "", shown_.size());
}

void ProgressLine::show(const std::string& what, double fraction, double remainingSeconds) {
  if (!isTerminal_) return;
  const double part = std::clamp(fraction, 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(part * kBarWidth);
  std::string line = fmt::format("[{:<{}}] {:3.0f} %  {:<{}}", std::string(filled, '='), kBarWidth,
                                 part * 100, what.substr(0, kTextWidth), kTextWidth);
  const std::string left = remainingSeconds < 0 ? "" : app::durationText(remainingSeconds) + " left";
  line += fmt::format("  {:<{}}", left.substr(0, kLeftWidth), kLeftWidth);
  if (line == shown_) return;
  fmt::print(stderr, "\r{}", line);
  std::fflush(stderr);
  shown_ = std::move(line);
}

}  // namespace vsim::cli
