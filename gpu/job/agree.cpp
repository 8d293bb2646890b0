#include "gpu/job/agree.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "gpu/job/messages.h"

namespace vsim::gpu {
namespace {

/// A text's length and 64-bit FNV-1a hash: equal texts are compared by it. (Nobody lies here: a difference
/// that this overlooks would have to come by accident.)
std::string summaryOf(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char letter : text) {
    hash ^= static_cast<unsigned char>(letter);
    hash *= 0x100000001b3ULL;
  }
  return fmt::format("{} {:016x}", text.size(), hash);
}

/// Takes the first line off `text`.
std::string_view takeLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// The line in quotes; of a long one only what is around `place`.
std::string quoted(std::string_view line, std::size_t place) {
  constexpr std::size_t kShown = 120, kBefore = 40;
  const std::size_t begin = line.size() <= kShown || place <= kBefore ? 0 : place - kBefore;
  const std::string_view shown = line.substr(std::min(begin, line.size()), kShown);
  const bool cut = begin + shown.size() < line.size();
  return fmt::format("'{}{}{}'", begin > 0 ? "..." : "", shown, cut ? "..." : "");
}

/// The first difference of two texts that differ: "line 7 'batch: 4' against 'batch: 8'".
std::string difference(std::string_view mine, std::string_view theirs) {
  const auto isLong = [](std::string_view text) { return text.find('\n') != std::string_view::npos; };
  const bool numbered = isLong(mine) || isLong(theirs);
  for (int number = 1; !mine.empty() || !theirs.empty(); ++number) {
    const bool myEnd = mine.empty(), theirEnd = theirs.empty();
    const std::string_view myLine = takeLine(mine), theirLine = takeLine(theirs);
    if (myLine == theirLine && myEnd == theirEnd) continue;
    const auto place = static_cast<std::size_t>(
        std::mismatch(myLine.begin(), myLine.end(), theirLine.begin(), theirLine.end()).first -
        myLine.begin());
    const std::string left = myEnd ? "nothing" : quoted(myLine, place);
    const std::string right = theirEnd ? "nothing" : quoted(theirLine, place);
    return numbered ? fmt::format("line {} {} against {}", number, left, right)
                    : fmt::format("{} against {}", left, right);
  }
  return "the end of the last line";  // all lines are equal: one text has a line end more
}

}  // namespace

core::Result<void> agree(Job& job, std::string_view what, std::string_view text) {
  const auto summaries = job.exchange(summaryOf(text));
  if (!summaries) return tl::unexpected(summaries.error());
  std::vector<int> differing;
  for (int process = 1; process < job.processes(); ++process)
    if ((*summaries)[static_cast<std::size_t>(process)] != summaries->front()) differing.push_back(process);
  if (differing.empty()) return {};
  // All see the same summaries, so all come here.
  const auto texts = job.exchange(text);
  if (!texts) return tl::unexpected(texts.error());
  const int other = differing.front();
  const std::string others =
      differing.size() == 1 ? "" : fmt::format("; {} differ from rank 0", namesOf(differing));
  return core::fail(fmt::format(
      "ranks have different {}: {}: {} of {}{}", what, nameOf(other, job.host(other)),
      difference((*texts)[static_cast<std::size_t>(other)], texts->front()), nameOf(0, job.host(0)), others));
}

}  // namespace vsim::gpu
