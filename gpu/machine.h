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
  core::Bytes memory = 0;              // that a program may take
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

/// Real hardware that runs StepPrograms: every process of the job makes the same calls in the same order.
class Machine : public core::Executor {
 public:
  [[nodiscard]] virtual const MachineFacts& facts() const = 0;
  [[nodiscard]] virtual int ranks() const = 0;
  /// This process decides, prints and stores.
  [[nodiscard]] virtual bool leads() const = 0;
  /// The leader's text on every process.
  [[nodiscard]] virtual core::Result<std::string> broadcast(const std::string& text) = 0;
  /// What was seen to hold the clocks of this process's devices down while programs ran since the last call:
  /// "power cap, thermal slowdown". Empty: nothing, or nobody knows.
  [[nodiscard]] virtual std::string throttling() { return {}; }

  /// Collective. The leader's log has one RankLog per rank, in order; the other processes' logs have their
  /// own ranks alone. Times are of each rank's own clock, from a common start. A collective's slice begins
  /// when the stream came to it (device) or when the last rank came (host), and ends with the data. Errors
  /// name the rank, its host, the operation and the group.
  [[nodiscard]] core::Result<core::ExecutionLog> execute(std::shared_ptr<const core::StepProgram> program,
                                                         int steps) override = 0;
};

}  // namespace vsim::gpu
