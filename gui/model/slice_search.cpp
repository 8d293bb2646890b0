#include "gui/model/slice_search.h"

#include <algorithm>
#include <sstream>

#include "traces/slice_text.h"

namespace vsim::gui {
namespace {

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::vector<std::string> wordsOf(const std::string& query) {
  std::istringstream in(lower(query));
  std::vector<std::string> words;
  for (std::string word; in >> word && words.size() < SliceSearch::kMaxWords;) words.push_back(word);
  return words;
}

std::uint32_t found(const std::vector<std::string>& words, const std::string& text) {
  const std::string small = lower(text);
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (small.find(words[i]) != std::string::npos) mask |= 1U << i;
  return mask;
}

std::string textOf(const core::StepProgram& program, core::Index instruction, const std::string& layer) {
  const core::Instruction& what = program.step[instruction];
  if (what.kind != core::InstructionKind::kernel && what.kind != core::InstructionKind::collective) return {};
  return traces::sliceName(program, instruction) + " " + layer + " " +
         std::string(core::kPhaseNames[static_cast<std::size_t>(what.phase)]);
}

}  // namespace

SliceSearch::SliceSearch(std::shared_ptr<const TimelineData> data, const std::string& query)
    : data_(std::move(data)), query_(query) {
  const auto words = wordsOf(query);
  // Bit 31 alone stays unset everywhere, so that an empty query matches nothing.
  all_ = words.empty() ? 1U << 31 : static_cast<Words>((std::uint64_t{1} << words.size()) - 1);
  if (data_->log && data_->log->program) {
    const core::StepProgram& program = *data_->log->program;
    ofSource_.reserve(program.step.size());
    const std::vector<std::string> layers = traces::sliceLayers(program);
    for (core::Index i = 0; i < program.step.size(); ++i)
      ofSource_.push_back(found(words, textOf(program, i, layers[i])));
  } else {
    for (const std::string& name : data_->names) ofSource_.push_back(found(words, name));
  }
  for (std::size_t c = 0; c < kSliceClasses; ++c) ofKind_[c] = found(words, std::string(kSliceClassNames[c]));
  ofLane_.resize(data_->lanes.size());
  std::string title;
  for (const Track& track : data_->tracks) {
    if (track.kind == Track::Kind::rankClass) title = track.title;
    if (track.lane >= 0)
      ofLane_[static_cast<std::size_t>(track.lane)] = found(words, title + " " + track.title);
  }
}

bool SliceSearch::matches(SliceRef slice) const {
  return slice.valid() &&
         matches(static_cast<std::size_t>(slice.lane), static_cast<std::size_t>(slice.slice));
}

std::optional<SliceRef> SliceSearch::next(SliceRef from, Direction direction) const {
  const bool forward = direction == Direction::forward;
  const auto beginOf = [&](SliceRef ref) {
    return data_->lanes[static_cast<std::size_t>(ref.lane)].begin[static_cast<std::size_t>(ref.slice)];
  };
  const auto before = [&](SliceRef a, SliceRef b) {
    return std::tuple(beginOf(a), a.lane, a.slice) < std::tuple(beginOf(b), b.lane, b.slice);
  };
  std::optional<SliceRef> best;
  for (std::size_t lane = 0; lane < data_->lanes.size(); ++lane) {
    const LaneColumns& columns = data_->lanes[lane];
    const auto size = static_cast<std::int64_t>(columns.size());
    std::int64_t i = forward ? 0 : size - 1;
    if (from.valid()) {
      const auto at = forward ? std::lower_bound(columns.begin.begin(), columns.begin.end(), beginOf(from))
                              : std::upper_bound(columns.begin.begin(), columns.begin.end(), beginOf(from));
      i = at - columns.begin.begin() - (forward ? 0 : 1);
    }
    for (; i >= 0 && i < size; i += forward ? 1 : -1) {
      const SliceRef ref{static_cast<std::int64_t>(lane), i};
      if (best && (forward ? columns.begin[static_cast<std::size_t>(i)] > beginOf(*best)
                           : columns.begin[static_cast<std::size_t>(i)] < beginOf(*best)))
        break;
      if (from.valid() && !(forward ? before(from, ref) : before(ref, from))) continue;
      if (!matches(lane, static_cast<std::size_t>(i))) continue;
      if (!best || (forward ? before(ref, *best) : before(*best, ref))) best = ref;
      break;
    }
  }
  return best;
}

std::optional<SliceRef> SliceSearch::firstFrom(core::Picoseconds time) const {
  std::optional<SliceRef> best;
  core::Picoseconds begin = 0;
  for (std::size_t lane = 0; lane < data_->lanes.size(); ++lane) {
    const LaneColumns& columns = data_->lanes[lane];
    auto i = static_cast<std::size_t>(std::lower_bound(columns.begin.begin(), columns.begin.end(), time) -
                                      columns.begin.begin());
    for (; i < columns.size() && (!best || columns.begin[i] < begin); ++i)
      if (matches(lane, i)) {
        best = SliceRef{static_cast<std::int64_t>(lane), static_cast<std::int64_t>(i)};
        begin = columns.begin[i];
      }
  }
  return best;
}

SearchHits SliceSearch::hits(const std::atomic<bool>& cancelled) const {
  SearchHits found;
  found.lanes.resize(data_->lanes.size());
  for (std::size_t lane = 0; lane < data_->lanes.size() && !cancelled; ++lane) {
    std::vector<std::uint32_t>& hits = found.lanes[lane];
    for (std::size_t i = 0; i < data_->lanes[lane].size(); ++i)
      if (matches(lane, i)) hits.push_back(static_cast<std::uint32_t>(i));
    hits.shrink_to_fit();
    found.count += static_cast<std::int64_t>(hits.size());
  }
  return found;
}

std::optional<std::size_t> SearchHits::endingAfter(const LaneColumns& columns, std::size_t lane,
                                                   core::Picoseconds time) const {
  if (lane >= lanes.size()) return std::nullopt;
  const auto found = std::partition_point(lanes[lane].begin(), lanes[lane].end(),
                                          [&](std::uint32_t slice) { return columns.end[slice] <= time; });
  return found == lanes[lane].end() ? std::nullopt : std::optional<std::size_t>(*found);
}

}  // namespace vsim::gui
