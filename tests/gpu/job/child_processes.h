#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace vsim::test {

/// Real processes, forked before this one has any other thread. Each writes lines to this process; none
/// outlives the object, nor 60 seconds.
class ChildProcesses {
 public:
  using Say = std::function<void(const std::string& line)>;

  ChildProcesses(int count, const std::function<void(int child, const Say& say)>& body) {
    for (int child = 0; child < count; ++child) {
      int ends[2] = {-1, -1};
      if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
      const pid_t pid = ::fork();
      if (pid == 0) {
        ::alarm(60);
        ::close(ends[0]);
        body(child, [&](const std::string& line) {
          const std::string whole = line + "\n";
          if (::write(ends[1], whole.data(), whole.size()) < 0) ::_exit(2);
        });
        ::_exit(0);
      }
      ::close(ends[1]);
      children_.push_back({pid, ends[0], {}, false});
    }
  }
  ~ChildProcesses() {
    for (Child& child : children_) {
      end(child);
      ::close(child.pipe);
    }
  }
  ChildProcesses(const ChildProcesses&) = delete;
  ChildProcesses& operator=(const ChildProcesses&) = delete;

  [[nodiscard]] pid_t pid(int child) const { return children_[static_cast<std::size_t>(child)].pid; }
  void signal(int child, int number) const { ::kill(pid(child), number); }

  /// The next line of a child; "(nothing)" when it ends or says nothing for 30 seconds.
  std::string line(int child) {
    Child& from = children_[static_cast<std::size_t>(child)];
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (true) {
      if (const std::size_t end = from.said.find('\n'); end != std::string::npos) {
        std::string result = from.said.substr(0, end);
        from.said.erase(0, end + 1);
        return result;
      }
      pollfd waiting{from.pipe, POLLIN, 0};
      char buffer[4096];
      ssize_t count = 0;
      if (std::chrono::steady_clock::now() >= deadline) return "(nothing)";
      if (::poll(&waiting, 1, 200) > 0 && (count = ::read(from.pipe, buffer, sizeof(buffer))) <= 0)
        return "(nothing)";
      from.said.append(buffer, static_cast<std::size_t>(count));
    }
  }

 private:
  struct Child {
    pid_t pid;
    int pipe;
    std::string said;
    bool ended;
  };

  static void end(Child& child) {
    if (child.ended) return;
    child.ended = true;
    ::kill(child.pid, SIGKILL);
    ::waitpid(child.pid, nullptr, 0);
  }

  std::vector<Child> children_;
};

}  // namespace vsim::test
