#include "core/base/error.h"

#include <algorithm>
#include <numeric>

namespace vsim::core {

std::string Error::text() const {
  std::string result;
  if (!file.empty()) {
    result = file;
    if (line > 0) result += fmt::format(":{}", line);
    if (line > 0 && column > 0) result += fmt::format(":{}", column);
    result += ": ";
  }
  result += message;
  if (!hint.empty()) result += " (" + hint + ")";
  return result;
}

std::string text(const Errors& errors) {
  std::string result;
  for (const Error& error : errors) {
    if (!result.empty()) result += '\n';
    result += error.text();
  }
  return result;
}

void failCheck(const char* condition, const char* file, int line, const std::string& what) {
  throw InternalError(
      fmt::format("internal error: {} ({} at {}:{}); please report it", what, condition, file, line));
}

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t bestDistance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t change = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
      }
    }
    if (row.back() < bestDistance) {
      bestDistance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace vsim::core
