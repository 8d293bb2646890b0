#include "gpu/host/host_facts.h"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <system_error>
#include <thread>

#include "gpu/job/host_name.h"

namespace vsim::gpu {

namespace fs = std::filesystem;

namespace {

std::string firstLine(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// The number at the beginning of a text; nullopt: there is none.
std::optional<double> leadingNumber(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const char* const begin = std::find_if(text.data(), end, [](char c) { return c != ' ' && c != '\t'; });
  if (std::from_chars(begin, end, value).ec != std::errc()) return std::nullopt;
  return value;
}

/// The value of the first line "key<blanks>: value".
std::string field(const fs::path& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(key)) continue;
    if (line.find_first_not_of(" \t", key.size()) != colon) continue;
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    return value == std::string::npos ? std::string() : line.substr(value);
  }
  return {};
}

core::Bytes availableMemory(const fs::path& root) {
  constexpr double kKibibyte = 1024;
  const auto kibibytes = leadingNumber(field(root / "proc/meminfo", "MemAvailable"));
  auto available = static_cast<core::Bytes>(kibibytes.value_or(0) * kKibibyte);
  const auto limit = leadingNumber(firstLine(root / "sys/fs/cgroup/memory.max"));  // "max": none
  const auto used = leadingNumber(firstLine(root / "sys/fs/cgroup/memory.current"));
  if (limit && used) available = std::min(available, static_cast<core::Bytes>(std::max(0.0, *limit - *used)));
  return available;
}

double clockHertz(const fs::path& root) {
  constexpr double kKilo = 1e3, kMega = 1e6;
  if (const auto kilohertz =
          leadingNumber(firstLine(root / "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")))
    return *kilohertz * kKilo;
  return leadingNumber(field(root / "proc/cpuinfo", "cpu MHz")).value_or(0) * kMega;
}

std::vector<NicFacts> networkCards(const fs::path& root) {
  constexpr double kMegabit = 1e6 / 8;
  std::vector<NicFacts> cards;
  std::error_code error;
  for (fs::directory_iterator entry(root / "sys/class/net", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name == "lo") continue;
    const double megabits = leadingNumber(firstLine(entry->path() / "speed")).value_or(0);
    cards.push_back({name, std::max(0.0, megabits) * kMegabit});  // -1: the link is down or has no speed
  }
  std::ranges::sort(cards, {}, &NicFacts::name);
  return cards;
}

int usableCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

RankFacts hostFacts(const fs::path& root) {
  RankFacts facts;
  facts.host = hostName();
  facts.device = field(root / "proc/cpuinfo", "model name");
  if (facts.device.empty()) facts.device = "processor";
  facts.sms = usableCores();
  facts.memory = facts.freeMemory = availableMemory(root);
  facts.clockHertz = clockHertz(root);
  facts.nics = networkCards(root);
  unsigned core = 0, node = 0;
  if (getcpu(&core, &node) == 0) facts.processorSocket = static_cast<int>(node);
  return facts;
}

std::vector<std::pair<std::string, std::string>> hostVersions() {
  utsname system{};
  const bool known = uname(&system) == 0;
#if defined(__clang__)
  const std::string compiler = "clang++ " __clang_version__;
#else
  const std::string compiler = "g++ " __VERSION__;
#endif
  return {{"kernel", known ? system.release : "unknown"}, {"compiler", compiler}};
}

}  // namespace vsim::gpu
