#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "gpu/job/connection.h"
#include "gpu/job/messages.h"

namespace vsim::gpu {

/// The ports on which the leader of `port` may listen: that alone, or the next ones too when nobody chose it.
[[nodiscard]] std::vector<int> candidatePorts(int port, bool derived);

struct LeaderPlace {
  std::string address;
  std::vector<int> ports;
};

/// Finds the hub of `jobName` at one of the leader's ports, trying again until `deadline`. Errors: nobody
/// answers there, or somebody else.
[[nodiscard]] core::Result<Connection> findHub(const LeaderPlace& leader, const std::string& jobName,
                                               std::chrono::steady_clock::time_point deadline);

/// Waits for the hub's greeting on a connection to this process's own hub.
[[nodiscard]] core::Result<Connection> greetOwnHub(Socket socket);

/// Says who this process is, and waits until all have come: the processes of the job. Errors: the hub's
/// refusal, or its end; none of both by `deadline`.
[[nodiscard]] core::Result<std::vector<Peer>> introduce(Connection& hub, const Hello& hello,
                                                        std::chrono::steady_clock::time_point deadline);

}  // namespace vsim::gpu
