#include "gpu/plugin_path.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace vsim::gpu {

namespace fs = std::filesystem;

std::vector<fs::path> pluginCandidates(const std::string& fileName) {
  std::vector<fs::path> result;
  if (const char* listed = std::getenv("VSIM_PLUGIN_PATH")) {
    const std::string folders = listed;
    for (std::size_t begin = 0; begin <= folders.size();) {
      const std::size_t end = std::min(folders.find(':', begin), folders.size());
      if (end > begin) result.push_back(fs::path(folders.substr(begin, end - begin)) / fileName);
      begin = end + 1;
    }
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return result;
  result.push_back(program.parent_path() / fileName);
  result.push_back(program.parent_path().parent_path() / "lib" / fileName);
  return result;
}

core::Result<fs::path> findPlugin(const std::string& fileName) {
  std::vector<std::string> looked;
  for (const fs::path& candidate : pluginCandidates(fileName)) {
    std::error_code error;
    if (fs::exists(candidate, error)) return candidate;
    looked.push_back(candidate.parent_path().string());
  }
  return core::fail(fmt::format("{} is not in {}", fileName, fmt::join(looked, " or ")),
                    "VSIM_PLUGIN_PATH names a folder to look in");
}

}  // namespace vsim::gpu
