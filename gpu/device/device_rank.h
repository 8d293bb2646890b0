#pragma once

#include <atomic>
#include <deque>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/program/execution_log.h"
#include "gpu/device/data_kernels.h"
#include "gpu/device/device_options.h"
#include "gpu/device/operations.h"
#include "gpu/device/rank_memory.h"
#include "gpu/device/slice_timer.h"

namespace vsim::gpu::device {

/// Where the ranks of a process stand together: all have set up; then, once the processes have agreed, all
/// begin.
class Start {
 public:
  explicit Start(std::ptrdiff_t ranks) : ready_(ranks), go_(1) {}
  /// A rank: has set up, or failed to.
  void arrive() { ready_.count_down(); }
  void waitForGo() { go_.wait(); }
  /// The process: true when all have arrived.
  [[nodiscard]] bool allArrived() const { return ready_.try_wait(); }
  void go(core::Picoseconds origin) {
    origin_ = origin;
    go_.count_down();
  }
  /// Time zero of the log, on the clock of the RunControl. After go.
  [[nodiscard]] core::Picoseconds origin() const { return origin_; }

 private:
  std::latch ready_, go_;
  core::Picoseconds origin_ = 0;
};

/// One rank on one device: issues a StepProgram as a training framework's host thread would. run() is that
/// thread, poll and position are for the watchdog meanwhile, the rest for afterwards.
class DeviceRank {
 public:
  struct Setting {
    Api& api;
    RunControl& control;
    const DataPlan& plan;
    const DeviceOptions& options;
    const DeviceFacts& facts;
    Communicators& communicators;
    Start& start;
    int rank = 0, localRank = 0, device = 0;
    std::string host;
  };
  /// All that `setting` names outlives the object.
  explicit DeviceRank(const Setting& setting);
  ~DeviceRank();
  DeviceRank(const DeviceRank&) = delete;
  DeviceRank& operator=(const DeviceRank&) = delete;

  /// Runs everything and gives everything back to the device. Problems go to the RunControl.
  void run(int steps);

  /// Looks how far the device is. Errors of its work that show then are thrown as RankFailure.
  void poll();
  /// "rank 2 (host7) waits for all_gather(L1) (step 1, instruction 41) in group dp_shard of ranks 0, 1, 2, 3"
  [[nodiscard]] std::string position() const;
  /// What runs in a communicator, in the words of position(); empty: nothing does.
  [[nodiscard]] std::string running(const RankCommunicator& communicator) const;
  /// To be called when the execution has failed and the communicators have been aborted: the rank's thread
  /// cleans up only then.
  void releaseAfterFailure() { mayCleanUp_.store(true, std::memory_order_release); }

  [[nodiscard]] core::RankLog takeLog() { return std::move(log_); }
  [[nodiscard]] std::uint64_t executed() const { return executed_; }
  /// Bytes of operands and results of kernels, beside the program's buffers.
  [[nodiscard]] core::Bytes ownMemory() const { return ownMemory_; }
  [[nodiscard]] const std::map<core::Index, std::vector<float>>& contents() const { return contents_; }
  [[nodiscard]] const RankContext& context() const { return context_; }

 private:
  struct Parts;  // what lives on the device, for the time of run()
  struct Copied {
    core::Index buffer = 0;
    std::vector<std::byte> bytes{};
  };
  struct Observed {
    int step = 0;
    core::Index instruction = 0;
    std::vector<Copied> buffers{};
  };

  void setUp();
  void makeStreams();
  void playSteps(int steps);
  void collect();
  void keepContents();
  void cleanUp(bool failed);
  bool quiet();
  void drain();
  void waitFor(Event event);

  void issue(const core::Instruction& instruction, core::Index index);
  void launch(const core::Instruction& instruction, core::Index index);
  void communicate(const core::Instruction& instruction, core::Index index);
  void awaitTurn(core::Index group, core::StreamId stream);
  void call(const core::Collective& collective, RankCommunicator& communicator, core::StreamId stream);
  void allToAll(const core::Collective& collective, RankCommunicator& communicator, const std::byte* send,
                std::byte* receive, core::StreamId stream);
  void observe(const core::Instruction& instruction, core::Index index);
  void tellObserver();
  std::vector<BufferMemory> resolve(const std::vector<core::Index>& buffers) const;
  [[nodiscard]] core::Slice slice(const core::Instruction& instruction, core::Index index) const;
  [[nodiscard]] std::string describe(int step, core::Index index) const;
  [[nodiscard]] std::string here() const;
  void serializeCommunicators();

  Setting set_;
  const core::StepProgram& program_;
  RankContext context_;
  std::vector<RankCommunicator*> communicators_;  // [group]
  std::unique_ptr<Parts> parts_;
  std::vector<core::Index> lastStreams_;  // [group]: of its latest collective, kNone before the first
  std::vector<bool> fresh_;               // [buffer]: nothing issued writes to it since it was allocated
  std::map<std::pair<core::Index, core::Index>, int> gradients_;  // (unit, tensor): launches in this step
  std::deque<Observed> observed_;
  std::map<core::Index, std::vector<float>> contents_;
  core::RankLog log_;
  std::uint64_t executed_ = 0;
  core::Bytes ownMemory_ = 0;
  int step_ = 0;
  std::atomic<std::uint64_t> at_ = kSettingUp;  // step and instruction being issued
  mutable std::mutex timerMutex_;
  SliceTimer* timer_ = nullptr;  // of parts_, while the watchdog may use it
  std::atomic<bool> mayCleanUp_ = false;
  static constexpr std::uint64_t kSettingUp = ~std::uint64_t{0}, kDraining = kSettingUp - 1;
};

}  // namespace vsim::gpu::device
