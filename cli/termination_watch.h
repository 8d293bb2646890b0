#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "gpu/job/job.h"

namespace vsim::cli {

/// A launcher that sees one process die sends SIGTERM to the others, often before they know what happened.
/// While a watch lives, SIGTERM leaves the job a second to find out and to say so; then the process ends,
/// and what is known by then is printed. Made before any other thread: those inherit that SIGTERM is blocked.
class TerminationWatch {
 public:
  TerminationWatch();
  ~TerminationWatch();
  TerminationWatch(const TerminationWatch&) = delete;
  TerminationWatch& operator=(const TerminationWatch&) = delete;

  /// Whose failure to print. Null: none any more.
  void setJob(gpu::Job* job);
  /// True for the first caller alone: who prints the failure.
  [[nodiscard]] bool claimReport() { return !reported_.exchange(true); }

 private:
  void watch();
  void terminate();

  std::mutex mutex_;
  gpu::Job* job_ = nullptr;
  std::atomic<bool> stop_ = false, reported_ = false;
  std::thread thread_;
};

}  // namespace vsim::cli
