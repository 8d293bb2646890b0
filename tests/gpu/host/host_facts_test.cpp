#include "gpu/host/host_facts.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace vsim;
namespace fs = std::filesystem;

namespace {

/// A system's files, in a folder of their own.
struct FakeSystem {
  fs::path root = fs::temp_directory_path() / ("vsim_facts_" + std::to_string(getpid()));
  ~FakeSystem() { fs::remove_all(root); }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }
};

}  // namespace

TEST_CASE("facts about the machine are read where the system has them") {
  FakeSystem system;
  system.write(
      "proc/cpuinfo",
      "processor\t: 0\nmodel name\t: Some Processor 9000\ncpu MHz\t\t: 2450.5\nmodel name\t: other\n");
  system.write("proc/meminfo", "MemTotal:       2000 kB\nMemAvailable:   1000 kB\n");
  system.write("sys/class/net/eth1/speed", "25000\n");
  system.write("sys/class/net/eth0/speed", "-1\n");
  system.write("sys/class/net/lo/speed", "10\n");
  system.write("sys/class/net/wlan0/other", "");
  const gpu::RankFacts facts = gpu::hostFacts(system.root);
  CHECK(facts.device == "Some Processor 9000");
  CHECK(facts.clockHertz == Approx(2450.5e6));
  CHECK(facts.memory == 1000 * 1024);
  REQUIRE(facts.nics.size() == 3);
  CHECK((facts.nics[0].name == "eth0" && facts.nics[0].bytesPerSecond == 0));
  CHECK((facts.nics[1].name == "eth1" && facts.nics[1].bytesPerSecond == Approx(25e9 / 8)));
  CHECK(facts.nics[2].name == "wlan0");

  system.write("sys/fs/cgroup/memory.max", "500000\n");
  system.write("sys/fs/cgroup/memory.current", "100000\n");
  system.write("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3900000\n");
  CHECK(gpu::hostFacts(system.root).memory == 400000);
  CHECK(gpu::hostFacts(system.root).clockHertz == Approx(3.9e9));
  system.write("sys/fs/cgroup/memory.max", "max\n");
  CHECK(gpu::hostFacts(system.root).memory == 1000 * 1024);
}

TEST_CASE("a system that says nothing leaves facts empty") {
  const gpu::RankFacts facts = gpu::hostFacts("/nonexistent");
  CHECK(facts.device == "processor");
  CHECK(facts.memory == 0);
  CHECK(facts.clockHertz == 0);
  CHECK(facts.nics.empty());
  CHECK(!facts.host.empty());
}

TEST_CASE("this machine has a processor and memory") {
  const gpu::RankFacts facts = gpu::hostFacts();
  CHECK(facts.sms >= 1);
  CHECK(facts.memory > 0);
  for (const auto& [what, version] : gpu::hostVersions()) CHECK((!what.empty() && !version.empty()));
}
