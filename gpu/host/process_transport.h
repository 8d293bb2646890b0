#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "gpu/host/communicator.h"

namespace vsim::gpu {

/// A communicator to be made: its name in errors, and its ranks by index.
struct GroupRequest {
  std::string name;
  std::vector<int> members;
};

/// What moves data between ranks that are processes. The implementation over MPI is a plug-in, so that vsim
/// itself does not depend on MPI. Apart from communicators' calls, one thread at a time.
class ProcessTransport {
 public:
  virtual ~ProcessTransport() = default;

  /// Joins the others; collective, once, before anything else. Errors: a library without threads.
  [[nodiscard]] virtual core::Result<void> init() = 0;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  [[nodiscard]] virtual int localRank() const = 0;
  [[nodiscard]] virtual int localRanks() const = 0;
  /// "Open MPI 4.1.4"
  [[nodiscard]] virtual std::string version() const = 0;

  /// Communicators that this rank is a member of, in the order of the requests; all members of a group ask
  /// for it, and every process asks in the same order. They live no longer than `control` and this object.
  /// Errors: those of the library; the execution was stopped; a member does not come in time.
  [[nodiscard]] virtual core::Result<std::vector<std::unique_ptr<Communicator>>> communicators(
      const std::vector<GroupRequest>& requests, RunControl& control, std::chrono::milliseconds timeout) = 0;

  /// Leaves when all is well: collective, bounded in time. Without it the process ends as one that failed.
  virtual void finalize() = 0;
};

/// Version of this interface: a plug-in of another one is refused.
inline constexpr int kTransportVersion = 1;

/// What a plug-in exports with C linkage under these names.
///   int vsimTransportVersion();
///   vsim::gpu::ProcessTransport* vsimMakeTransport();   // owned by the caller; never null
using TransportVersionFunction = int (*)();
using MakeTransportFunction = ProcessTransport* (*)();
inline constexpr const char* kTransportVersionSymbol = "vsimTransportVersion";
inline constexpr const char* kMakeTransportSymbol = "vsimMakeTransport";
inline constexpr const char* kMpiPlugin = "libvsim_mpi.so";

/// Loads the plug-in for MPI; it stays loaded. Errors: it is not there (see findPlugin), cannot be loaded
/// (the loader's own words: a library that is missing), or is of another version of vsim.
[[nodiscard]] core::Result<std::unique_ptr<ProcessTransport>> loadMpiTransport();

}  // namespace vsim::gpu
