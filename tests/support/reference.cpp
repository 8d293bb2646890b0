#include "tests/support/reference.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "tests/folders.h"

namespace vsim::test {
namespace {

std::string folderFrom(const char* variable, const char* bundled) {
  const char* value = std::getenv(variable);
  return value && *value ? std::string(value) : std::string(VSIM_SOURCE_DIR) + "/tests/data/" + bundled;
}

// gzread passes plain files through unchanged, so one path serves both.
std::optional<std::string> readMaybeGzip(const std::string& path) {
  for (const std::string& candidate : {path, path + ".gz"}) {
    if (!std::filesystem::is_regular_file(candidate)) continue;
    gzFile file = gzopen(candidate.c_str(), "rb");
    if (!file) continue;
    std::string text;
    char buffer[1 << 16];
    int got = 0;
    while ((got = gzread(file, buffer, sizeof buffer)) > 0)
      text.append(buffer, static_cast<std::size_t>(got));
    gzclose(file);
    if (got == 0) return text;
  }
  std::cout << "SKIPPED: " << path << " not found\n";
  return std::nullopt;
}

}  // namespace

std::string validationFolder() { return folderFrom("VSIM_VALIDATION", "validation"); }
std::string inputsFolder() { return folderFrom("VSIM_INPUTS", "inputs"); }
std::optional<std::string> referenceText(const std::string& name) {
  return readMaybeGzip(validationFolder() + "/" + name);
}
std::optional<std::string> inputText(const std::string& name) {
  return readMaybeGzip(inputsFolder() + "/" + name);
}

std::vector<std::string> filesIn(const std::string& dir, const std::string& suffix) {
  std::vector<std::string> names;
  if (!std::filesystem::is_directory(dir)) return names;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(suffix)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<CsvRow> parseCsv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1);
  std::string field;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"')
        field += text[++i];
      else if (c == '"')
        quoted = false;
      else
        field += c;
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      rows.back().push_back(std::move(field));
      field.clear();
    } else if (c == '\n') {
      rows.back().push_back(std::move(field));
      field.clear();
      rows.emplace_back();
    } else if (c != '\r') {
      field += c;
    }
  }
  if (!field.empty() || !rows.back().empty()) rows.back().push_back(std::move(field));
  std::vector<CsvRow> result;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    if (rows[r].size() < 2) continue;
    CsvRow row;
    for (std::size_t c = 0; c < rows[0].size() && c < rows[r].size(); ++c) row[rows[0][c]] = rows[r][c];
    result.push_back(std::move(row));
  }
  return result;
}

}  // namespace vsim::test
