#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/run_process.h"

namespace vsim::test {

/// A port of 127.0.0.1 that somebody listens at.
class TakenPort {
 public:
  TakenPort() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(socket_, 4) != 0 ||
        ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("no port");
    port_ = ntohs(address.sin_port);
  }
  ~TakenPort() { ::close(socket_); }
  TakenPort(const TakenPort&) = delete;
  TakenPort& operator=(const TakenPort&) = delete;
  [[nodiscard]] int port() const { return port_; }

 private:
  int socket_, port_ = 0;
};

/// One that was free a moment ago.
inline int freePort() { return TakenPort().port(); }

/// A program in the background; killed when it takes more than a minute and a half, or is forgotten.
class Background {
 public:
  Background(const std::string& program, const std::vector<std::string>& arguments,
             const std::vector<std::string>& environment) {
    child_ = ::fork();
    if (child_ != 0) return;
    std::vector<std::string> all{program};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& argument : all) argv.push_back(argument.data());
    argv.push_back(nullptr);
    for (const std::string& setting : environment) ::putenv(const_cast<char*>(setting.c_str()));
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(::open((folder_ / "out").c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    ::dup2(::open((folder_ / "err").c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  ~Background() {
    if (!code_) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Exit code; 128 + signal when one ended it; 124 when it had to be killed.
  int exitCode() {
    for (int look = 0; !code_ && look < 9000; ++look) {
      int status = 0;
      if (::waitpid(child_, &status, WNOHANG) == child_)
        code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      else
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (!code_) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
      code_ = 124;
    }
    return *code_;
  }
  [[nodiscard]] bool running() const {
    siginfo_t seen{};
    return !code_ && ::waitid(P_PID, static_cast<id_t>(child_), &seen, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           seen.si_pid == 0;
  }
  [[nodiscard]] std::string out() const { return readFile(folder_ / "out"); }
  [[nodiscard]] std::string err() const { return readFile(folder_ / "err"); }

 private:
  TemporaryFolder folder_;
  pid_t child_ = -1;
  std::optional<int> code_;
};

/// Processes as torchrun starts them, on loopback.
class Torchrun {
 public:
  Torchrun(std::string program, int processes, std::vector<std::string> environment, int port = freePort())
      : program_(std::move(program)),
        processes_(processes),
        environment_(std::move(environment)),
        port_(port) {}
  void start(int process, const std::vector<std::string>& arguments) {
    std::vector<std::string> environment = environment_;
    const std::string rank = std::to_string(process), size = std::to_string(processes_);
    for (const std::string& setting :
         {"RANK=" + rank, "LOCAL_RANK=" + rank, "WORLD_SIZE=" + size, "LOCAL_WORLD_SIZE=" + size,
          std::string("MASTER_ADDR=127.0.0.1"), "MASTER_PORT=" + std::to_string(port_)})
      environment.push_back(setting);
    running_[process] = std::make_unique<Background>(program_, arguments, environment);
  }
  int exitCode(int process) { return running_.at(process)->exitCode(); }
  [[nodiscard]] std::string out(int process) const { return running_.at(process)->out(); }
  [[nodiscard]] std::string err(int process) const { return running_.at(process)->err(); }

 private:
  std::string program_;
  int processes_;
  std::vector<std::string> environment_;
  int port_;
  std::map<int, std::unique_ptr<Background>> running_;
};

inline std::vector<std::string> mpiEnvironment(std::vector<std::string> more) {
  for (const char* setting :
       {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "PRTE_ALLOW_RUN_AS_ROOT=1",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1",
        "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe", "OMPI_MCA_hwloc_base_binding_policy=none",
        "PRTE_MCA_hwloc_default_binding_policy=none", "OMPI_MCA_btl_vader_single_copy_mechanism=none",
        "OMPI_MCA_btl=self,vader"})
    more.emplace_back(setting);
  return more;
}

#ifdef VSIM_MPIRUN
inline bool haveMpi() {
  return std::filesystem::exists(std::filesystem::path(VSIM_EXECUTABLE).parent_path() /
                                 "../lib/libvsim_mpi.so");
}
#else
#define VSIM_MPIRUN ""
inline bool haveMpi() { return false; }
#endif

inline std::vector<std::string> mpirunArguments(int ranks, const std::string& program,
                                                const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"-np", std::to_string(ranks), program};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

inline ProcessResult mpirun(int ranks, const std::string& program, const std::vector<std::string>& arguments,
                            const std::vector<std::string>& environment) {
  Background run(VSIM_MPIRUN, mpirunArguments(ranks, program, arguments), mpiEnvironment(environment));
  ProcessResult result;
  result.exitCode = run.exitCode();
  result.out = run.out();
  result.err = run.err();
  return result;
}

/// The process whose environment has both settings; 0: none.
inline pid_t processWith(const std::string& first, const std::string& second) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in(entry.path() / "environ", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (text.find(first) != std::string::npos && text.find(second) != std::string::npos)
      return static_cast<pid_t>(std::stol(name));
  }
  return 0;
}

/// The same, and rank 1 is killed when it has run for two seconds.
inline ProcessResult mpirunKillingOne(int ranks, const std::string& program,
                                      const std::vector<std::string>& arguments,
                                      std::vector<std::string> environment) {
  const std::string token = "VSIM_TEST_RUN=" + std::to_string(::getpid()) + "-killed";
  environment.push_back(token);
  Background run(VSIM_MPIRUN, mpirunArguments(ranks, program, arguments), mpiEnvironment(environment));
  pid_t victim = 0;
  for (int look = 0; look < 600 && victim == 0 && run.running(); ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    victim = processWith(token, std::string("OMPI_COMM_WORLD_RANK=1") + '\0');
  }
  std::this_thread::sleep_for(std::chrono::seconds(2));
  if (victim != 0) ::kill(victim, SIGKILL);
  ProcessResult result;
  result.exitCode = run.exitCode();
  result.out = run.out();
  result.err = run.err();
  return result;
}

}  // namespace vsim::test
