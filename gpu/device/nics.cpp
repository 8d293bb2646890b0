#include "gpu/device/nics.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace vsim::gpu::device {
namespace {

namespace fs = std::filesystem;

constexpr double kBitsPerByte = 8;

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> result;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    result.push_back(at->path());
  std::sort(result.begin(), result.end());
  return result;
}

/// The number that the file begins with: "400 Gb/sec (4X NDR)", "100000"; 0 when there is none.
double firstNumber(const fs::path& file) {
  std::ifstream in(file);
  double value = 0;
  return in >> value && value > 0 ? value : 0;
}

/// False where the kernel says that the port has no link: its rate is then that of no data.
bool linked(const fs::path& port) {
  std::ifstream in(port / "state");  // "4: ACTIVE", "1: DOWN"
  std::string state;
  return !std::getline(in, state) || state.find("ACTIVE") != std::string::npos;
}

fs::path cardOf(const fs::path& device) {
  std::error_code error;
  return fs::canonical(device / "device", error);
}

}  // namespace

std::vector<NicFacts> findNics(const std::string& root) {
  std::vector<NicFacts> nics;
  std::set<fs::path> cards;
  for (const fs::path& device : entries(fs::path(root) / "sys/class/infiniband")) {
    double bits = 0;
    for (const fs::path& port : entries(device / "ports"))
      if (linked(port)) bits += firstNumber(port / "rate") * 1e9;
    nics.push_back({device.filename().string(), bits / kBitsPerByte});
    if (const fs::path card = cardOf(device); !card.empty()) cards.insert(card);
  }
  for (const fs::path& device : entries(fs::path(root) / "sys/class/net")) {
    const fs::path card = cardOf(device);
    if (card.empty() || cards.contains(card)) continue;
    nics.push_back({device.filename().string(), firstNumber(device / "speed") * 1e6 / kBitsPerByte});
  }
  return nics;
}

}  // namespace vsim::gpu::device
