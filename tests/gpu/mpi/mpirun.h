#pragma once

#include <string>
#include <vector>

namespace vsim::test {

struct MpirunResult {
  int status = 0;  // exit status of mpirun; 124: it did not end in time
  double seconds = 0;
  std::string output;  // of all ranks, both streams
  int leftBehind = 0;  // processes of this run that were still there a moment later
};

/// MPI was found when this was built.
[[nodiscard]] bool mpiIsThere();

/// Starts `ranks` processes of gpu_mpi_ranks with these arguments, on this machine, as root or not, with more
/// ranks than cores. Everything is killed after `limit` seconds.
[[nodiscard]] MpirunResult mpirun(int ranks, const std::vector<std::string>& arguments, int limit = 120);

}  // namespace vsim::test
