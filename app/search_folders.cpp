#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "app/run.h"

namespace vsim::app {

std::vector<std::string> searchFolders() {
  namespace fs = std::filesystem;
  std::vector<std::string> folders;
  const auto add = [&](const fs::path& folder) {
    std::error_code error;
    if (fs::is_directory(folder, error)) folders.push_back(folder.string());
  };
  // $VSIM_DATA, the checkout the binary was built from, and a checkout or installation around the binary.
  std::vector<fs::path> roots;
  if (const char* data = std::getenv("VSIM_DATA"); data && *data) roots.emplace_back(data);
  roots.emplace_back(VSIM_SOURCE_DIR);
  std::error_code error;
  const fs::path binary = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path folder = binary.parent_path();
    roots.push_back(folder / ".." / "share" / "vsim");
    roots.push_back(folder / ".." / ".." / "..");
  }
  for (const fs::path& root : roots) {
    add(root / "scenarios");
    add(root / "scenarios" / "real");
    add(root / "traces" / "data");
  }
  return folders;
}

}  // namespace vsim::app
