#include "gui/model/fuzzy.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace vsim::gui {
namespace {

constexpr int kWhole = 100, kWordStart = 10, kNeighbour = 6, kLetter = 1;

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
bool isWordPart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// One word of the pattern: as it stands, else letter by letter.
std::optional<int> wordScore(std::string_view word, const std::string& text) {
  if (const std::size_t at = text.find(word); at != std::string::npos) {
    const bool start = at == 0 || !isWordPart(text[at - 1]);
    return kWhole + (start ? kWordStart : 0) + static_cast<int>(word.size()) * kNeighbour;
  }
  int score = 0;
  std::size_t from = 0, last = std::string::npos;
  for (const char letter : word) {
    const std::size_t at = text.find(letter, from);
    if (at == std::string::npos) return std::nullopt;
    score += kLetter;
    if (at == 0 || !isWordPart(text[at - 1])) score += kWordStart;
    if (last != std::string::npos && at == last + 1) score += kNeighbour;
    last = at;
    from = at + 1;
  }
  return score;
}

}  // namespace

std::optional<int> fuzzyScore(std::string_view pattern, std::string_view text) {
  std::string lowered(text);
  std::transform(lowered.begin(), lowered.end(), lowered.begin(), lower);
  int score = 0;
  std::string word;
  for (std::size_t i = 0; i <= pattern.size(); ++i) {
    if (i < pattern.size() && pattern[i] != ' ') {
      word += lower(pattern[i]);
      continue;
    }
    if (word.empty()) continue;
    const auto found = wordScore(word, lowered);
    if (!found) return std::nullopt;
    score += *found;
    word.clear();
  }
  return score;
}

}  // namespace vsim::gui
