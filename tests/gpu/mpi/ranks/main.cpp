// One rank of the checks that gpu_mpi_tests starts with mpirun: gpu_mpi_ranks CHECK TOKEN. Ends with 0 when
// all is well, 1 with a problem, 3 after the failure that the check is about; tells both as "rank N: ...".

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <thread>

#include "gpu/job/tcp_job.h"
#include "tests/gpu/mpi/ranks/checks.h"
#include "tests/gpu/mpi/ranks/failures.h"

namespace {

using namespace vsim;

constexpr int kProblem = 1, kFailure = 3;

int tell(int rank, const std::string& text, int status) {
  if (text.empty()) return 0;
  fmt::print(stderr, "rank {}: {}\n", rank, text);
  std::fflush(stderr);
  // mpirun ends all ranks once one has ended with a failure: the others shall tell theirs before.
  if (status == kFailure) std::this_thread::sleep_for(std::chrono::seconds(1));
  return status;
}

/// Checks without a job.
int alone(const std::string& check, gpu::ProcessTransport& transport) {
  if (const auto begun = transport.init(); !begun) return tell(-1, begun.error().text(), kProblem);
  std::string problem;
  int status = kProblem;
  if (check == "conformance") problem = test::checkConformance(transport);
  if (check == "collectives") problem = test::checkCollectives(transport);
  if (check == "mismatch") {
    problem = test::mismatchOf(transport);
    status = kFailure;
  }
  if (problem.empty()) transport.finalize();
  return tell(transport.rank(), problem, status);
}

int inJob(const std::string& check, std::unique_ptr<gpu::ProcessTransport> transport) {
  const auto launch = gpu::launchEnvironment();
  if (!launch) return tell(-1, launch.error().text(), kProblem);
  const auto job =
      gpu::joinJob(*launch, {.version = "test", .host = "node" + std::to_string(launch->process)});
  if (!job) return tell(launch->process, job.error().text(), kProblem);
  if (check == "tiny_moe")
    return tell(launch->process, test::checkTinyMoe(**job, std::move(transport)), kProblem);
  if (check == "machine")
    return tell(launch->process, test::checkMachine(**job, std::move(transport)), kProblem);
  return tell(launch->process, test::failureOf(check, **job, std::move(transport)), kFailure);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return tell(-1, "which check?", kProblem);
  try {
    const std::string check = arguments[1];
    auto transport = gpu::loadMpiTransport();
    if (!transport) return tell(-1, transport.error().text(), kProblem);
    const bool withoutJob = check == "conformance" || check == "collectives" || check == "mismatch";
    return withoutJob ? alone(check, **transport) : inJob(check, std::move(*transport));
  } catch (const std::exception& problem) {
    return tell(-1, problem.what(), kProblem);
  }
}
