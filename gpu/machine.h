#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/program/executor.h"

namespace vsim::gpu {

/// A network card of one rank's host.
struct NicFacts {
  std::string name;           // "mlx5_0", "eth0"
  double bytesPerSecond = 0;  // one direction; 0: not known
};

/// What was found where one rank runs.
struct RankFacts {
  std::string host;
  int localRank = 0;
  std::string device;                  // "NVIDIA H200", or the processor's name on the host executor
  int computeCapability = 0, sms = 0;  // 90; cores on the host executor
  core::Bytes memory = 0;              // all of the device's; of a host: what programs may take
  core::Bytes freeMemory = 0;          // of it when vsim came: what a program may take
  double clockHertz = 0;               // 0: not known
  double nvlinkBytesPerSecond = 0;     // all links together, one direction; 0: none
  int processorSocket = 0;             // NUMA node of the device
  std::string rack;                    // as the scheduler or fabric names it; empty: not known
  std::vector<NicFacts> nics;
};

/// The hardware of a job as its ranks found it.
struct MachineFacts {
  std::string executor;                                       // "host", "cuda"
  std::vector<RankFacts> ranks;                               // by rank
  std::vector<std::pair<std::string, std::string>> versions;  // {"driver", "580.65"}, {"nccl", "2.28.3"}
  bool fixedReductionOrder = false;  // reductions add in the order of the ranks: results are reproducible
};

/// What this process's devices ran at while programs ran. 0, "": not known.
struct ClockReadings {
  double processorHertz = 0, lowestHertz = 0;    // median, and the lowest that was seen
  double memoryHertz = 0;                        // median
  double powerWatts = 0, highestPowerWatts = 0;  // of one device: median, and the highest
  double celsius = 0;                            // the highest
  std::string throttled{};                       // what held the clocks down: "power cap, thermal slowdown"
};

/// Real hardware that runs StepPrograms: every process of the job makes the same calls in the same order.
class Machine : public core::Executor {
 public:
  [[nodiscard]] virtual const MachineFacts& facts() const = 0;
  [[nodiscard]] virtual int ranks() const = 0;
  /// This process decides, prints and stores.
  [[nodiscard]] virtual bool leads() const = 0;
  /// The leader's text on every process.
  [[nodiscard]] virtual core::Result<std::string> broadcast(const std::string& text) = 0;
  /// Since the last call.
  [[nodiscard]] virtual ClockReadings clocks() { return {}; }
  /// Memory of one device that the last execution took beside the program's buffers, of this process's ranks
  /// the most: operands and results of kernels that only cost time. No log has it.
  [[nodiscard]] virtual core::Bytes ownMemory() const { return 0; }

  /// Collective. The leader's log has one RankLog per rank, in order; the other processes' logs have their
  /// own ranks alone. Times are of each rank's own clock, from a common start. A collective's slice begins
  /// when the stream came to it (device) or when the last rank came (host), and ends with the data. Errors
  /// name the rank, its host, the operation and the group.
  [[nodiscard]] core::Result<core::ExecutionLog> execute(std::shared_ptr<const core::StepProgram> program,
                                                         int steps) override = 0;
};

}  // namespace vsim::gpu
