#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace vsim::test {

struct ProcessResult {
  int exitCode = -1;  // 128 + signal when one ended it
  std::string out, err;
};

/// Runs a program to its end; `environment` ("NAME=value") is added to this process's own.
inline ProcessResult runProcess(const std::string& program, const std::vector<std::string>& arguments,
                                const std::vector<std::string>& environment = {}) {
  TemporaryFolder folder;
  const std::string out = folder / "out", err = folder / "err";
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<std::string> all{program};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& argument : all) argv.push_back(argument.data());
    argv.push_back(nullptr);
    for (const std::string& setting : environment) ::putenv(const_cast<char*>(setting.c_str()));
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ProcessResult result;
  result.exitCode = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  result.out = readFile(out);
  result.err = readFile(err);
  return result;
}

}  // namespace vsim::test
