#include "gui/model/stored_levels.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "traces/byte_archive.h"
#include "traces/packed_bytes.h"
#include "traces/run_store.h"

namespace vsim::gui {
namespace {

constexpr std::string_view kMagic = "vlod";
constexpr int kFormat = 3;
constexpr std::size_t kFewestCells = 512,
                      kMostCells = 4096;      // of a lane: a screen has 2,000 to 4,000 columns
constexpr std::size_t kCellsInAll = 1 << 20;  // of a scene, unless its lanes are very many
constexpr core::Picoseconds kLatest = core::Picoseconds{1} << 61;  // sums and differences stay in 64 bits
constexpr float kFull = 255;

/// Enough for the width of a screen with few lanes, less with thousands: of those, each is a few pixels high.
std::size_t cellsFor(std::size_t lanes) {
  return std::clamp(std::bit_floor(kCellsInAll / std::max<std::size_t>(1, lanes)), kFewestCells, kMostCells);
}

// One list of members per type serves writing and reading.

template <class Archive, class... T>
void fields(Archive& archive, T&... values) {
  (archive(values), ...);
}
template <class Archive, class List, class Visit>
void each(Archive& archive, List& list, Visit visit) {
  archive.list(list);
  for (auto& item : list) visit(item);
}

struct StoredLane {
  TimeRange span;
  std::string cells{};  // class by class, a byte for a cell; empty: an empty lane
};

struct Stored {
  TimeRange whole;
  std::size_t slices = 0;
  std::vector<Track> tracks;
  std::vector<TimeRange> steps;  // of the data
  std::vector<StoredLane> lanes{}, exposed{};
  std::vector<std::vector<Exposed::Step>> classSteps{};
};

template <class Archive, class Levels>
void members(Archive& a, Levels& levels) {
  const auto range = [&](auto& r) { fields(a, r.begin, r.end); };
  const auto lane = [&](auto& l) {
    range(l.span);
    a(l.cells);
  };
  range(levels.whole);
  a(levels.slices);
  each(a, levels.tracks, [&](auto& t) {
    fields(a, t.kind, t.title, t.depth, t.lane, t.rankClass, t.firstRank, t.ranks, t.compute, t.communication,
           t.stream);
  });
  each(a, levels.steps, range);
  each(a, levels.lanes, lane);
  each(a, levels.exposed, lane);
  each(a, levels.classSteps, [&](auto& steps) {
    each(a, steps, [&](auto& s) {
      fields(a, s.exposed, s.communication, s.compute, s.length);
      range(s.range);
    });
  });
}

char byteOf(float share) {
  // A cell that is empty may come out of differences as 1e-8: what does not show is nothing.
  const float steps = share > 1e-6F ? std::clamp(std::round(share * kFull), 1.0F, kFull) : 0.0F;
  return static_cast<char>(static_cast<unsigned char>(steps));
}
float shareOf(char byte) { return static_cast<float>(static_cast<unsigned char>(byte)) / kFull; }

StoredLane storedLane(const LaneIndex& lane, std::size_t cells) {
  StoredLane stored{.span = lane.span()};
  if (lane.span().empty()) return stored;
  std::vector<ClassShares> shares(cells);
  lane.shares({lane.span(), static_cast<int>(cells)}, true, shares);
  stored.cells.resize(cells * kBusyClasses);
  for (std::size_t c = 0; c < kBusyClasses; ++c)
    for (std::size_t i = 0; i < cells; ++i) stored.cells[c * cells + i] = byteOf(shares[i].of[c]);
  return stored;
}

StoredLane storedTrack(const BusyTrack& track, std::size_t cells) {
  StoredLane stored{.span = track.span()};
  if (track.span().empty()) return stored;
  std::vector<float> shares(cells);
  track.shares({track.span(), static_cast<int>(cells)}, true, shares);
  for (const float share : shares) stored.cells.push_back(byteOf(share));
  return stored;
}

bool isTime(TimeRange range) { return range.begin >= 0 && range.begin <= range.end && range.end <= kLatest; }

/// Tracks as rankClassesOf() and layoutRows() expect them: a class in front, every lane in one track.
bool tracksFit(const Stored& stored) {
  std::vector<bool> seen(stored.lanes.size(), false);
  std::size_t classes = 0;
  for (const Track& track : stored.tracks) {
    if (track.ranks < 1 || track.firstRank < 0 || track.rankClass < 0) return false;
    if (track.kind == Track::Kind::rankClass) {
      ++classes;
      if (track.lane != -1) return false;
      continue;
    }
    if (track.kind != Track::Kind::stream || classes == 0) return false;
    if (track.lane < 0 || static_cast<std::size_t>(track.lane) >= seen.size()) return false;
    if (seen[static_cast<std::size_t>(track.lane)]) return false;
    seen[static_cast<std::size_t>(track.lane)] = true;
  }
  return std::ranges::all_of(seen, [](bool lane) { return lane; }) && stored.exposed.size() == classes &&
         stored.classSteps.size() == classes;
}

/// `classes`: numbers for each cell.
bool lanesFit(const std::vector<StoredLane>& lanes, std::size_t classes) {
  return std::ranges::all_of(lanes, [classes](const StoredLane& lane) {
    const std::size_t cells = lane.cells.size() / classes;
    if (lane.cells.empty()) return true;
    return isTime(lane.span) && !lane.span.empty() && lane.cells.size() % classes == 0 &&
           std::has_single_bit(cells) && cells >= kFewestCells && cells <= kMostCells;
  });
}

bool timesFit(const Stored& stored) {
  const auto fits = [](core::Picoseconds time) { return time >= 0 && time <= kLatest; };
  for (const auto& steps : stored.classSteps)
    for (const Exposed::Step& step : steps)
      if (!isTime(step.range) || !fits(step.exposed) || !fits(step.communication) || !fits(step.compute) ||
          !fits(step.length))
        return false;
  return isTime(stored.whole) && !stored.whole.empty() && std::ranges::all_of(stored.steps, isTime) &&
         stored.slices > 0;
}

CoarseScene::Lane coarseLane(const StoredLane& stored) {
  CoarseScene::Lane lane{.span = stored.span, .cells = {}};
  const std::size_t cells = stored.cells.size() / kBusyClasses;
  lane.cells.resize(cells);
  for (std::size_t c = 0; c < kBusyClasses; ++c)
    for (std::size_t i = 0; i < cells; ++i) lane.cells[i].of[c] = shareOf(stored.cells[c * cells + i]);
  return lane;
}

BusyTrack coarseTrack(const StoredLane& stored) {
  std::vector<float> shares;
  for (const char byte : stored.cells) shares.push_back(shareOf(byte));
  return {stored.span, shares};
}

}  // namespace

std::string encodeLevels(const TimelineScene& scene) {
  const TimelineData& data = scene.data();
  Stored stored{.whole = data.whole, .slices = data.slices(), .tracks = data.tracks, .steps = data.steps};
  const std::size_t cells = cellsFor(scene.lanes().size());
  for (const LaneIndex& lane : scene.lanes()) stored.lanes.push_back(storedLane(lane, cells));
  for (const BusyTrack& track : scene.exposed()) stored.exposed.push_back(storedTrack(track, cells));
  stored.classSteps = scene.classSteps();
  traces::ByteWriter writer;
  writer(kFormat);
  members(writer, stored);
  return traces::packBytes(kMagic, std::move(writer).take());
}

std::shared_ptr<const TimelineScene> decodeLevels(std::string_view bytes) {
  const auto plain = traces::unpackBytes(kMagic, bytes);
  if (!plain) return nullptr;
  traces::ByteReader reader(*plain);
  int format = 0;
  reader(format);
  if (format != kFormat) return nullptr;
  Stored stored;
  members(reader, stored);
  if (!reader.ok() || !reader.atEnd() || !timesFit(stored) || !lanesFit(stored.lanes, kBusyClasses) ||
      !lanesFit(stored.exposed, 1) || !tracksFit(stored))
    return nullptr;
  CoarseScene coarse;
  coarse.data = std::make_shared<TimelineData>();
  coarse.data->lanes.resize(stored.lanes.size());
  coarse.data->tracks = std::move(stored.tracks);
  coarse.data->steps = std::move(stored.steps);
  coarse.data->whole = stored.whole;
  coarse.data->toCome = stored.slices;
  for (const StoredLane& lane : stored.lanes) coarse.lanes.push_back(coarseLane(lane));
  for (const StoredLane& lane : stored.exposed) coarse.exposed.push_back(coarseTrack(lane));
  coarse.steps = std::move(stored.classSteps);
  return std::make_shared<const TimelineScene>(std::move(coarse));
}

bool keepLevels(const std::string& store, std::int64_t run, std::int64_t report, const TimelineScene& scene) {
  auto opened = traces::RunStore::open(store, traces::RunStore::Access::readWrite);
  return opened && opened->saveLevels(run, report, encodeLevels(scene)).has_value();
}

}  // namespace vsim::gui
