#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "gpu/job/job.h"
#include "gpu/job/launch.h"

namespace vsim::gpu {

struct JoinOptions {
  std::string version;                        // of vsim: all processes must have the same
  std::string host;                           // how errors call this machine; empty: its host name
  std::chrono::milliseconds timeout{60'000};  // for all processes to come together
  std::chrono::milliseconds heartbeat{200};   // between two signs of life (longer in jobs of > 256 processes)
  std::chrono::milliseconds silence{30'000};  // without a sign of life: the process counts as lost
};

/// Brings the processes of a job together over TCP: process 0 listens at the leader's address, the others
/// connect. Returns when all are there. One process: no network at all.
///
/// The job has one thread in every process (two in the leader), which the destructor ends; it says goodbye to
/// the others and takes two seconds at most. A process that ends without it makes the job fail everywhere
/// within about a second. The functions given to onFailure and setStatus run in that thread, so they must
/// return soon.
///
/// Errors: processes that do not come in time, come twice, or have another vsim or another number of
/// processes (all of them get that error); the leader's port taken; an answer from something that is no job
/// of vsim's, or of another job.
[[nodiscard]] core::Result<std::unique_ptr<Job>> joinJob(const LaunchEnvironment& launch,
                                                         const JoinOptions& options);

}  // namespace vsim::gpu
