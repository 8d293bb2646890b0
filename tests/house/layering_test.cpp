#include <fmt/format.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/folders.h"

namespace fs = std::filesystem;

namespace {

using Folders = std::set<std::string>;

const Folders kCore{"core/base",     "core/model",   "core/mesh",  "core/plan",
                    "core/dbuffer",  "core/program", "core/optim", "core/profile",
                    "core/scenario", "core/train",   "core/report"};

Folders join(Folders a, const Folders& b) {
  a.insert(b.begin(), b.end());
  return a;
}

/// Which folders a folder may include, besides itself: the house in one table.
const std::map<std::string, Folders>& allowed() {
  static const Folders simulator{"sim/cluster", "sim/memory", "sim/network", "sim/compute", "sim/engine"};
  static const Folders hardware = join(kCore, {"gpu", "gpu/job"});
  static const Folders below =
      join(join(kCore, simulator), {"gpu", "gpu/job", "gpu/host", "gpu/device", "gpu/calibrate", "traces"});
  static const std::map<std::string, Folders> table{
      {"core/base", {}},
      {"core/model", {"core/base"}},
      {"core/mesh", {"core/base"}},
      {"core/plan", {"core/base", "core/mesh"}},
      {"core/dbuffer", {"core/base", "core/mesh", "core/plan"}},
      {"core/program", {"core/base"}},
      {"core/optim", {"core/base", "core/mesh"}},
      {"core/profile", {"core/base"}},
      {"core/scenario", {"core/base", "core/model"}},
      {"core/report", {"core/base", "core/program"}},
      {"core/train",
       {"core/base", "core/model", "core/mesh", "core/plan", "core/dbuffer", "core/program", "core/optim",
        "core/profile", "core/scenario"}},
      {"sim/cluster", kCore},
      {"sim/memory", kCore},
      {"sim/network", join(kCore, {"sim/cluster"})},
      {"sim/compute", join(kCore, {"sim/cluster"})},
      {"sim/engine", join(kCore, {"sim/cluster", "sim/memory", "sim/network", "sim/compute"})},
      {"gpu", kCore},
      {"gpu/job", {"core/base"}},
      {"gpu/host", hardware},
      {"gpu/mpi", join(hardware, {"gpu/host"})},
      {"gpu/device", hardware},
      {"gpu/cuda", join(hardware, {"gpu/device"})},
      {"gpu/calibrate", join(kCore, {"gpu"})},
      {"traces", kCore},
      {"app", below},
      {"gui/model", join(below, {"app"})},
      {"gui/session", join(below, {"app", "gui/model"})},
      {"gui/paint", join(below, {"app", "gui/model", "gui/session"})},
      {"gui/view", join(below, {"app", "gui/model", "gui/session", "gui/paint"})},
      {"gui", join(below, {"app", "gui/model", "gui/session", "gui/paint", "gui/view"})},
      {"cli", join(below, {"app"})},
      {"tools", join(below, {"app"})},
  };
  return table;
}

std::string folderOf(const std::string& file) {
  const std::string folder = fs::path(file).parent_path().string();
  // A folder may have folders of its own (tests of fixtures, bundled data): they belong to it.
  for (std::string f = folder; !f.empty(); f = fs::path(f).parent_path().string())
    if (allowed().contains(f)) return f;
  return folder;
}

struct Source {
  std::string path;  // from the root of the checkout
  std::vector<std::string> lines;
  std::vector<std::string> quoted;  // #include "..."
  std::vector<std::string> angled;  // #include <...>
};

std::string included(const std::string& line, char open, char close) {
  std::size_t i = line.find_first_not_of(" \t");
  if (i == std::string::npos || line[i] != '#') return {};
  i = line.find_first_not_of(" \t", i + 1);
  if (i == std::string::npos || line.compare(i, 7, "include") != 0) return {};
  i = line.find_first_not_of(" \t", i + 7);
  if (i == std::string::npos || line[i] != open) return {};
  const std::size_t end = line.find(close, i + 1);
  return end == std::string::npos ? std::string() : line.substr(i + 1, end - i - 1);
}

Source read(const fs::path& root, const fs::path& file) {
  Source source{fs::relative(file, root).string(), {}, {}, {}};
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (const std::string name = included(line, '"', '"'); !name.empty()) source.quoted.push_back(name);
    if (const std::string name = included(line, '<', '>'); !name.empty()) source.angled.push_back(name);
    source.lines.push_back(line);
  }
  return source;
}

/// All sources of the house, tests and benchmarks included, sorted by path.
const std::vector<Source>& sources() {
  static const std::vector<Source> all = [] {
    std::vector<Source> found;
    const fs::path root = VSIM_SOURCE_DIR;
    for (const char* top : {"core", "sim", "gpu", "traces", "app", "gui", "cli", "tools", "tests", "bench"}) {
      if (!fs::is_directory(root / top)) continue;
      for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
        const std::string kind = entry.path().extension().string();
        if (entry.is_regular_file() && (kind == ".h" || kind == ".cpp" || kind == ".cu"))
          found.push_back(read(root, entry.path()));
      }
    }
    std::sort(found.begin(), found.end(), [](const Source& a, const Source& b) { return a.path < b.path; });
    return found;
  }();
  return all;
}

bool isTest(const Source& source) {
  return source.path.starts_with("tests/") || source.path.starts_with("bench/");
}
bool isHeader(const Source& source) { return source.path.ends_with(".h"); }

void none(const std::vector<std::string>& problems) {
  std::string text;
  for (const std::string& problem : problems) text += "\n  " + problem;
  INFO(text);
  CHECK(problems.empty());
}

}  // namespace

TEST_CASE("layering: the table itself has no cycle") {
  // Folders without dependencies left are taken away until nothing is.
  std::map<std::string, Folders> left = allowed();
  for (bool progress = true; progress;) {
    progress = false;
    for (auto folder = left.begin(); folder != left.end();) {
      const bool free = std::none_of(folder->second.begin(), folder->second.end(),
                                     [&](const std::string& other) { return left.contains(other); });
      progress = progress || free;
      folder = free ? left.erase(folder) : std::next(folder);
    }
  }
  CHECK(left.empty());
}

TEST_CASE("layering: nothing includes upward") {
  REQUIRE(sources().size() > 20);
  std::vector<std::string> problems;
  for (const Source& source : sources()) {
    const std::string from = folderOf(source.path);
    if (isTest(source)) continue;
    if (!allowed().contains(from)) {
      problems.push_back(source.path + ": its folder is not in the table");
      continue;
    }
    for (const std::string& name : source.quoted) {
      const std::string to = folderOf(name);
      if (to != from && !allowed().at(from).contains(to))
        problems.push_back(fmt::format("{} includes {}: {} may not know {}", source.path, name, from, to));
    }
  }
  none(problems);
}

TEST_CASE("layering: includes are written from the root and exist") {
  std::vector<std::string> problems;
  for (const Source& source : sources())
    for (const std::string& name : source.quoted)
      // tests/folders.h is made from its template.
      if (!fs::is_regular_file(fs::path(VSIM_SOURCE_DIR) / name) &&
          !fs::is_regular_file(fs::path(VSIM_SOURCE_DIR) / (name + ".in")))
        problems.push_back(fmt::format("{} includes \"{}\", which is not there", source.path, name));
  none(problems);
}

TEST_CASE("layering: no cycle of includes") {
  std::map<std::string, const Source*> byPath;
  for (const Source& source : sources()) byPath[source.path] = &source;
  std::map<std::string, int> state;  // 1: on the way, 2: done
  std::vector<std::string> problems;
  const auto visit = [&](const auto& self, const std::string& path) -> void {
    state[path] = 1;
    for (const std::string& name : byPath.at(path)->quoted) {
      if (!byPath.contains(name)) continue;
      if (state[name] == 1) problems.push_back(fmt::format("{} and {} include each other", path, name));
      if (state[name] == 0) self(self, name);
    }
    state[path] = 2;
  };
  for (const auto& [path, source] : byPath)
    if (state[path] == 0) visit(visit, path);
  none(problems);
}

TEST_CASE("house: Boost.Graph stays out of headers") {
  std::vector<std::string> problems;
  for (const Source& source : sources())
    for (const std::string& name : source.angled)
      if (isHeader(source) && name.starts_with("boost/graph/"))
        problems.push_back(fmt::format("{} includes <{}>", source.path, name));
  none(problems);
}

TEST_CASE("house: headers have #pragma once") {
  std::vector<std::string> problems;
  for (const Source& source : sources()) {
    const bool once =
        std::find(source.lines.begin(), source.lines.end(), "#pragma once") != source.lines.end();
    if (isHeader(source) && !once) problems.push_back(source.path);
  }
  none(problems);
}

TEST_CASE("house: no file is longer than 600 lines") {
  std::vector<std::string> problems;
  for (const Source& source : sources())
    if (source.lines.size() > 600)
      problems.push_back(fmt::format("{}: {} lines", source.path, source.lines.size()));
  none(problems);
}

TEST_CASE("house: a source includes its own header first") {
  std::vector<std::string> problems;
  for (const Source& source : sources()) {
    if (isTest(source) || isHeader(source)) continue;
    const std::string own = fs::path(source.path).replace_extension(".h").string();
    if (!fs::is_regular_file(fs::path(VSIM_SOURCE_DIR) / own)) continue;
    std::string first;
    for (const std::string& line : source.lines) {
      first = included(line, '"', '"');
      if (first.empty()) first = included(line, '<', '>');
      if (!first.empty()) break;
    }
    if (first != own) problems.push_back(fmt::format("{} includes {} first", source.path, first));
  }
  none(problems);
}
