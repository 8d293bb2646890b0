#pragma once

#include <string>

#include "gpu/host/host_machine.h"

namespace vsim::test {

/// What every rank does in the checks that mpirun starts. Each answers the first problem of this rank, or "".

/// Every system and option of the conformance suite on as many of the processes as it has ranks: data, order
/// and memory against the training without ranks and the simulator.
[[nodiscard]] std::string checkConformance(gpu::ProcessTransport& transport);

/// Collectives of uneven sizes and long messages, all kinds, against their definition.
[[nodiscard]] std::string checkCollectives(gpu::ProcessTransport& transport);

/// The tiny mixture of experts on the machine of all processes, every system, three steps.
[[nodiscard]] std::string checkTinyMoe(gpu::Job& job, std::unique_ptr<gpu::ProcessTransport> transport);

/// A machine of all processes: facts, broadcast, logs at the leader, several executions, timed collectives
/// and compute.
[[nodiscard]] std::string checkMachine(gpu::Job& job, std::unique_ptr<gpu::ProcessTransport> transport);

}  // namespace vsim::test
