#include "core/scenario/lookup.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "core/scenario/document.h"
#include "core/scenario/section.h"

namespace vsim::core {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxListedFiles = 1000;

bool isFile(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !error && !fs::is_directory(path, error);
}

bool usable(const std::string& name) {
  return !name.empty() && name.size() <= 4096 && name.find('\0') == std::string::npos;
}

/// Names of the .yaml files directly in `folder`.
void listYaml(const fs::path& folder, std::vector<std::string>& names) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (names.size() >= kMaxListedFiles) return;
    if (entry->path().extension() == ".yaml") names.push_back(entry->path().filename().string());
  }
}

void sortOnce(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

std::vector<fs::path> foldersBeside(const std::string& scenarioPath, const ReadOptions& options) {
  const fs::path beside = fs::path(scenarioPath).parent_path();
  std::vector<fs::path> folders{beside, beside / ".." / "traces" / "data"};
  for (const std::string& folder : options.searchFolders)
    for (const char* below : {"", "scenarios", "traces/data", "data"})
      folders.push_back(*below ? fs::path(folder) / below : fs::path(folder));
  return folders;
}

}  // namespace

std::string findBeside(const std::string& name, const std::string& scenarioPath, const ReadOptions& options) {
  if (!usable(name)) return {};
  if (fs::path(name).is_absolute()) return isFile(name) ? name : std::string();
  for (const fs::path& folder : foldersBeside(scenarioPath, options))
    if (isFile(folder / name)) return (folder / name).lexically_normal().string();
  return {};
}

std::vector<std::string> candidatesBeside(const std::string& scenarioPath, const ReadOptions& options) {
  std::vector<std::string> names;
  for (const fs::path& folder : foldersBeside(scenarioPath, options))
    listYaml(folder.empty() ? fs::path(".") : folder, names);
  sortOnce(names);
  return names;
}

Result<std::string> findScenario(const std::string& nameOrPath, const ReadOptions& options) {
  if (!usable(nameOrPath)) return fail("no scenario is named", "a file, or the name of a bundled one");
  std::error_code error;
  if (isFile(nameOrPath)) return nameOrPath;
  const std::string name = fs::path(nameOrPath).filename().string();
  std::vector<std::string> known;
  for (const std::string& folder : options.searchFolders) {
    for (const fs::path& place : {fs::path(folder) / "scenarios", fs::path(folder)}) {
      for (const std::string& file : {name, name + ".yaml"})
        if (!name.empty() && isFile(place / file)) return (place / file).string();
    }
    listYaml(fs::path(folder) / "scenarios", known);
  }
  if (fs::is_directory(nameOrPath, error)) return fail(nameOrPath + ": is a folder, not a scenario file");
  sortOnce(known);
  for (std::string& file : known) file = fs::path(file).stem().string();
  return fail(shownValue(nameOrPath) + ": no such scenario, neither as a file nor among the bundled ones",
              known.empty() ? std::string() : suggestion(fs::path(name).stem().string(), known, "scenarios"));
}

Result<std::string> readSmallFile(const std::string& path) {
  const auto failed = [&](std::string message) {
    return tl::unexpected<Error>(Error{.message = std::move(message), .file = path});
  };
  std::error_code error;
  if (fs::is_directory(path, error)) return failed("is a folder, not a file");
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (!file) return failed(errno == ENOENT ? "no such file" : std::strerror(errno));
  std::string text(kMaxScenarioBytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get())) return failed("cannot be read");
  if (text.size() > kMaxScenarioBytes)
    return failed(fmt::format("larger than {} KiB: not a scenario", kMaxScenarioBytes / 1024));
  return text;
}

}  // namespace vsim::core
