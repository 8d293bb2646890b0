#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/folders.h"

namespace fs = std::filesystem;

namespace {

struct Outcome {
  int status = 0;
  std::string out, err;
};

std::string slurp(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A checkout in small, in a folder with spaces: the real launcher, a program of one file, and stand-ins for
/// the package tools, so that nothing is installed.
class SmallCheckout {
 public:
  SmallCheckout() : base_(fs::temp_directory_path() / fmt::format("vsim launcher {}", getpid())) {
    fs::remove_all(base_);
    for (const char* folder : {"a checkout/cmake", "a checkout/cli", "tools", "read only home"})
      fs::create_directories(base_ / folder);
    const fs::path source = VSIM_SOURCE_DIR;
    for (const char* file : {"vsim", "cmake/setup.sh", "cmake/packages.txt", "CMakePresets.json"})
      fs::copy_file(source / file, root() / file);
    write("CMakeLists.txt",
          "cmake_minimum_required(VERSION 3.25)\nproject(small LANGUAGES CXX)\nadd_subdirectory(cli)\n");
    write("cli/CMakeLists.txt", "add_executable(vsim main.cpp)\n");
    program("first");
    installed(
        "g++ cmake ninja-build libboost-dev libcli11-dev libeigen3-dev libexpected-dev libfmt-dev "
        "libsqlite3-dev libyaml-cpp-dev nlohmann-json3-dev zlib1g-dev");
    tool("apt-get", "echo \"$@\" >>\"" + (base_ / "apt.txt").string() + "\"; exit 1");
    tool("sudo", "exit 1");
  }
  ~SmallCheckout() { fs::remove_all(base_); }

  [[nodiscard]] fs::path root() const { return base_ / "a checkout"; }
  [[nodiscard]] fs::path base() const { return base_; }
  void write(const std::string& name, const std::string& text) const { std::ofstream(root() / name) << text; }
  void program(const std::string& word) const {
    write("cli/main.cpp", "#include <cstdio>\nint main(int n, char** a) { std::printf(\"" + word +
                              "%s\\n\", n > 1 ? a[1] : \"\"); return n > 2 ? 7 : 0; }\n");
  }
  void installed(const std::string& packages) const {
    tool("dpkg-query", "for p in " + packages + "; do echo installed $p; done");
  }
  void tool(const std::string& name, const std::string& script) const {
    const fs::path file = base_ / "tools" / name;
    std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(file, fs::perms::owner_all);
  }
  /// Runs a shell command in `base()` with the stand-ins first on the path and input from nowhere.
  [[nodiscard]] Outcome run(const std::string& command) const {
    const std::string line = fmt::format(
        "cd '{0}' && PATH='{0}/tools':\"$PATH\" HOME='{0}/read only home' sh -c '{1}' "
        "</dev/null >'{0}/out' 2>'{0}/err'",
        base_.string(), command);
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, slurp(base_ / "out"), slurp(base_ / "err")};
  }

 private:
  fs::path base_;
};

constexpr const char* kLauncher = "\"a checkout/vsim\"";

}  // namespace

TEST_CASE("launcher: builds once, starts at once, rebuilds after a change") {
  using Catch::Contains;
  const SmallCheckout checkout;
  const Outcome first = checkout.run(std::string(kLauncher) + " x");
  INFO(first.err);
  REQUIRE(first.status == 0);
  CHECK(first.out == "firstx\n");
  CHECK_THAT(first.err, Contains("configuring") && Contains("is ready"));
  const Outcome second = checkout.run(std::string(kLauncher) + " x y");
  CHECK(second.status == 7);
  CHECK(second.out == "firstx\n");
  CHECK(second.err.empty());
  checkout.program("second");
  const Outcome third = checkout.run(kLauncher);
  CHECK(third.out == "second\n");
  CHECK_THAT(third.err, Contains("is ready") && !Contains("configuring"));
  SECTION("from a link elsewhere") {
    const Outcome link = checkout.run("ln -s \"../a checkout/vsim\" tools/linked && tools/linked z");
    CHECK(link.out == "secondz\n");
  }
  SECTION("a broken source fails every time, and says why") {
    checkout.write("cli/main.cpp", "int main() { return missing; }\n");
    for (int i = 0; i < 2; ++i) {
      const Outcome broken = checkout.run(kLauncher);
      CHECK(broken.status == 1);
      CHECK(broken.out.empty());
      CHECK_THAT(broken.err, Contains("missing") && Contains("the build failed"));
    }
  }
  SECTION("a moved checkout is configured again") {
    const Outcome moved = checkout.run("mv \"a checkout\" moved && moved/vsim m; mv moved \"a checkout\"");
    CHECK(moved.out == "secondm\n");
  }
}

TEST_CASE("launcher: first calls at the same time build once") {
  const SmallCheckout checkout;
  const std::string call = std::string(kLauncher) + " x & ";
  const Outcome all = checkout.run(call + call + call + "wait");
  CHECK(all.out == "firstx\nfirstx\nfirstx\n");
  std::size_t builds = 0;
  for (std::size_t at = all.err.find("is ready"); at != std::string::npos;
       at = all.err.find("is ready", at + 1))
    ++builds;
  CHECK(builds == 1);
}

TEST_CASE("launcher: missing packages") {
  using Catch::Contains;
  const SmallCheckout checkout;
  checkout.installed(
      "cmake ninja-build libboost1.74-dev libcli11-dev libeigen3-dev libexpected-dev libfmt-dev "
      "libsqlite3-dev libyaml-cpp-dev nlohmann-json3-dev");
  SECTION("nobody may install: the one command, and 2") {
    checkout.tool("id", "echo 1000");
    const Outcome refused = checkout.run(kLauncher);
    CHECK(refused.status == 2);
    CHECK_THAT(refused.err, Contains("apt-get install -y --no-install-recommends g++ zlib1g-dev\n"));
    CHECK_FALSE(fs::exists(checkout.base() / "apt.txt"));
  }
  SECTION("root installs exactly what is missing") {
    checkout.tool("id", "echo 0");
    const Outcome failed = checkout.run(kLauncher);
    CHECK(failed.status == 1);
    CHECK_THAT(slurp(checkout.base() / "apt.txt"), Contains("--no-install-recommends g++ zlib1g-dev\n"));
  }
}

TEST_CASE("launcher: the GUI says when it is not there") {
  const SmallCheckout checkout;
  const Outcome gui = checkout.run(std::string(kLauncher) + " gui");
  CHECK(gui.status == 1);
  CHECK(gui.err == "vsim: the GUI is not part of this version\n");
}

TEST_CASE("launcher: the plug-in for GPUs is built for those who use it alone") {
  using Catch::Contains;
  const SmallCheckout checkout;
  checkout.tool("nvcc", "exit 0");
  checkout.write("CMakeLists.txt",
                 "cmake_minimum_required(VERSION 3.25)\nproject(small LANGUAGES CXX)\nadd_subdirectory(cli)\n"
                 "if(VSIM_CUDA)\n  add_subdirectory(plugin)\nendif()\n");
  fs::create_directories(checkout.root() / "plugin");
  checkout.write("plugin/CMakeLists.txt", "add_library(vsim_cuda SHARED plugin.cpp)\n");
  checkout.write("plugin/plugin.cpp", "int plugin() { return 1; }\n");
  const Outcome plain = checkout.run(std::string(kLauncher) + " run");
  INFO(plain.err);
  REQUIRE(plain.status == 0);
  CHECK_THAT(plain.err, !Contains("vsim_cuda"));
  const Outcome host = checkout.run(std::string(kLauncher) + " --real --executor host");
  CHECK_THAT(host.err, !Contains("vsim_cuda"));
  const Outcome real = checkout.run(std::string(kLauncher) + " --real");
  INFO(real.err);
  CHECK(real.status == 0);
  CHECK(real.out == "first--real\n");
  CHECK_THAT(real.err, Contains("vsim_cuda is ready"));
  CHECK(checkout.run(std::string(kLauncher) + " --real").err.empty());
  SECTION("where it cannot be built, vsim itself says what is missing") {
    checkout.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.25)\nproject(small LANGUAGES CXX)\nadd_subdirectory(cli)\n");
    const Outcome without = checkout.run(std::string(kLauncher) + " calibrate");
    INFO(without.err);
    CHECK(without.status == 0);
    CHECK(without.out == "firstcalibrate\n");
  }
}
