#include "gpu/job/job.h"

#include <mutex>

#include "gpu/job/host_name.h"

namespace vsim::gpu {
namespace {

/// Thread-safe.
class SingleProcessJob final : public Job {
 public:
  [[nodiscard]] int process() const override { return 0; }
  [[nodiscard]] int processes() const override { return 1; }
  [[nodiscard]] const std::string& host(int process) const override {
    VSIM_CHECK(process == 0, "a job of one process was asked for another");
    return host_;
  }

  [[nodiscard]] core::Result<std::vector<std::string>> exchange(std::string_view mine) override {
    if (const auto error = failure()) return tl::unexpected(*error);
    return std::vector<std::string>{std::string(mine)};
  }
  [[nodiscard]] core::Result<std::string> broadcast(std::string_view text) override {
    if (const auto error = failure()) return tl::unexpected(*error);
    return std::string(text);
  }

  void fail(const core::Error& error) override {
    const std::lock_guard lock(mutex_);
    if (failure_ == nullptr) failure_ = std::make_shared<const core::Error>(error);
  }
  [[nodiscard]] std::shared_ptr<const core::Error> failure() const override {
    const std::lock_guard lock(mutex_);
    return failure_;
  }
  // Nothing can fail "somewhere else": only a failure that is already there is told.
  void onFailure(std::function<void(const core::Error&)> tell) override {
    const auto error = failure();
    if (error != nullptr && tell) tell(*error);
  }
  void setStatus(std::function<std::string()>) override {}  // nobody will ask

 private:
  const std::string host_ = hostName();
  mutable std::mutex mutex_;
  std::shared_ptr<const core::Error> failure_;  // shared: handed out while it may be read elsewhere
};

}  // namespace

std::unique_ptr<Job> singleProcessJob() { return std::make_unique<SingleProcessJob>(); }

}  // namespace vsim::gpu
