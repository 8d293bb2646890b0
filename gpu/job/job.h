#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace vsim::gpu {

/// The processes that run one program together, and the channel on which they agree and fail together. Data
/// does not go through it: that is the communicators' work.
///
/// exchange and broadcast are called by every process in the same order, by one thread at a time; fail and
/// the setters from any thread.
class Job {
 public:
  virtual ~Job() = default;

  [[nodiscard]] virtual int process() const = 0;    // from 0; process 0 leads
  [[nodiscard]] virtual int processes() const = 0;  // at least 1
  [[nodiscard]] virtual const std::string& host(int process) const = 0;
  [[nodiscard]] bool leads() const { return process() == 0; }

  /// What every process gave, by process. Errors: another process failed, ended or fell silent (named with
  /// its host and what it was last known to do).
  [[nodiscard]] virtual core::Result<std::vector<std::string>> exchange(std::string_view mine) = 0;
  /// What the leading process gave; the others' `text` is ignored.
  [[nodiscard]] virtual core::Result<std::string> broadcast(std::string_view text) = 0;

  /// Tells all other processes that this one cannot go on. The first failure of the job is kept.
  virtual void fail(const core::Error& error) = 0;
  /// The job's failure, wherever it happened; nullptr while all is well.
  [[nodiscard]] virtual std::shared_ptr<const core::Error> failure() const = 0;
  /// Called once from a thread of the job's when it fails somewhere else; at once when it has failed.
  /// An empty function ends that; after it returns the old one is not called any more.
  virtual void onFailure(std::function<void(const core::Error&)> tell) = 0;
  /// What this process is at, in words ("rank 2 waits in all_gather(L1) of group dp_shard, step 1,
  /// instruction 41"); asked for by a thread of the job's, so that an error can say it. Empty: nothing.
  virtual void setStatus(std::function<std::string()> status) = 0;
};

/// A job of this process alone.
[[nodiscard]] std::unique_ptr<Job> singleProcessJob();

}  // namespace vsim::gpu
