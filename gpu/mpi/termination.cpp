#include "gpu/mpi/termination.h"

#include <unistd.h>

#include <csignal>

namespace vsim::gpu {

void surviveTerminationForASecond() {
  struct sigaction now {};
  if (sigaction(SIGTERM, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  struct sigaction wanted {};
  wanted.sa_handler = [](int) { alarm(1); };
  wanted.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &wanted, nullptr);
}

}  // namespace vsim::gpu
