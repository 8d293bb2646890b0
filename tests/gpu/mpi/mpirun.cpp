#include "tests/gpu/mpi/mpirun.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <thread>

namespace vsim::test {

namespace fs = std::filesystem;

#ifdef VSIM_MPIRUN
namespace {

/// What Open MPI needs to run as root, on few cores, inside containers; without network.
constexpr const char* kEnvironment =
    "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 "
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
    "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_hwloc_base_binding_policy=none "
    "PRTE_MCA_hwloc_default_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=none "
    "OMPI_MCA_btl=self,vader VSIM_PLUGIN_PATH=" VSIM_MPI_PLUGINS;

/// Processes whose arguments name this run.
int processesOf(const std::string& token) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos || name == std::to_string(getpid()))
      continue;
    std::ifstream in(entry.path() / "cmdline", std::ios::binary);
    const std::string command{std::istreambuf_iterator<char>(in), {}};
    if (command.find(token) != std::string::npos) ++count;
  }
  return count;
}

}  // namespace

bool mpiIsThere() { return true; }

MpirunResult mpirun(int ranks, const std::vector<std::string>& arguments, int limit) {
  std::random_device random;
  const std::string token = fmt::format("run-{:x}-{:x}", getpid(), random());
  const std::string command =
      fmt::format("env {} timeout -k 5 {} {} -np {} {} {} {} 2>&1 < /dev/null", kEnvironment, limit,
                  VSIM_MPIRUN, ranks, VSIM_MPI_RANKS, fmt::join(arguments, " "), token);
  const auto begin = std::chrono::steady_clock::now();
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start " + command);
  MpirunResult result;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    result.output.append(buffer, n);
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (int look = 0; look < 20 && (result.leftBehind = processesOf(token)) > 0; ++look)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return result;
}
#else
bool mpiIsThere() { return false; }
MpirunResult mpirun(int, const std::vector<std::string>&, int) { return {}; }
#endif

}  // namespace vsim::test
