#include "gui/model/plan_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "core/base/checked.h"
#include "core/plan/fsdp2_layout.h"
#include "core/plan/layout_rules.h"

namespace vsim::gui {
namespace {

using core::PlanTensor;

/// How a tensor is cut when every parameter is cut on its own.
struct Slots {
  std::int64_t runs = 1;    // indices of the dimensions before the cut one
  std::int64_t period = 0;  // elements of a run
  std::int64_t slice = 0;   // elements of a run on a device
};

Slots slotsOf(const PlanTensor& tensor, std::int64_t devices) {
  const auto dim = static_cast<std::size_t>(tensor.shardDim);
  Slots slots;
  std::int64_t inner = 1;
  for (std::size_t d = 0; d < dim; ++d) slots.runs *= tensor.shape[d];
  for (std::size_t d = dim + 1; d < tensor.shape.size(); ++d) inner *= tensor.shape[d];
  slots.period = tensor.shape[dim] * inner;
  slots.slice = core::ceilDivide(tensor.shape[dim], devices) * inner;
  return slots;
}

/// Counts blocks with a cut inside; cuts must come in ascending order.
class CutCounter {
 public:
  CutCounter(std::int64_t block, std::int64_t elements) : block_(block), elements_(elements) {}
  void cut(std::int64_t at) {
    if (at <= 0 || at >= elements_ || at % block_ == 0 || at / block_ == last_) return;
    last_ = at / block_;
    ++count_;
  }
  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  std::int64_t block_, elements_, last_ = -1, count_ = 0;
};

bool samePlaces(const std::vector<core::TensorPart>& a, const std::vector<core::TensorPart>& b) {
  return std::ranges::equal(a, b, [](const core::TensorPart& x, const core::TensorPart& y) {
    return x.tensor == y.tensor && x.shardOffset == y.shardOffset && x.elements == y.elements;
  });
}

}  // namespace

core::Result<PlanMap> PlanMap::make(const app::PlannedBucket& bucket, const std::string& rule,
                                    std::int64_t elementBytes) {
  const core::LayoutRule* known = core::layoutRule(rule);
  if (!known) return core::fail(fmt::format("no layout rule \"{}\"", rule));
  // The buffer reads slots in the shapes that the rule cuts, and checks the blocks that it promises.
  auto buffer = core::DBuffer::make(known->promise(bucket.problem).tensors, bucket.layout);
  if (!buffer) return tl::unexpected(buffer.error());
  PlanMap map(std::move(*buffer), bucket.problem.tensors, bucket.problem.align);
  if (map.buffer_.viewsIntoGathered())
    map.foldContiguous();
  else
    map.foldSlots();
  map.countCuts();
  map.countUse(elementBytes);
  return map;
}

void PlanMap::foldContiguous() {
  std::vector<core::TensorPart> before;
  for (std::int64_t device = 0; device < buffer_.devices(); ++device) {
    std::vector<core::TensorPart> parts = buffer_.parts(device);
    if (!rows_.empty() && samePlaces(before, parts)) {
      ++rows_.back().devices;
      continue;
    }
    rows_.push_back({.firstDevice = device, .devices = 1});
    before = std::move(parts);
  }
}

void PlanMap::foldSlots() {
  // A tensor's slot changes where full slices end and where slices end: nowhere else.
  const std::int64_t devices = buffer_.devices();
  std::vector<std::int64_t> starts{0};
  for (const PlanTensor& tensor : buffer_.tensors()) {
    if (tensor.elements == 0) continue;
    const Slots slots = slotsOf(tensor, devices);
    for (const std::int64_t at : {slots.period / slots.slice, core::ceilDivide(slots.period, slots.slice)})
      if (at > 0 && at < devices) starts.push_back(at);
  }
  std::ranges::sort(starts);
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t end = i + 1 < starts.size() ? starts[i + 1] : devices;
    rows_.push_back({.firstDevice = starts[i], .devices = end - starts[i]});
  }
}

void PlanMap::countCuts() {
  const std::int64_t devices = buffer_.devices(), shard = buffer_.shardElements();
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    cutBlocks_.push_back(0);
    if (tensors_[i].elements == 0) continue;
    CutCounter counter(block(static_cast<std::int64_t>(i)), tensors_[i].elements);
    if (buffer_.viewsIntoGathered()) {
      const std::int64_t start = buffer_.tensorOffset(i);
      for (std::int64_t at = shard - start % shard; at < tensors_[i].elements; at += shard) counter.cut(at);
    } else {
      const Slots slots = slotsOf(buffer_.tensors()[i], devices);
      for (std::int64_t run = 0; run < slots.runs; ++run) {
        for (std::int64_t at = slots.slice; at < slots.period; at += slots.slice)
          counter.cut(run * slots.period + at);
        // The next run begins on device 0: a cut, unless that device has all of them.
        if (slots.slice < slots.period) counter.cut((run + 1) * slots.period);
      }
    }
    cutBlocks_.back() = counter.count();
    facts_.cutTensors += counter.count() > 0 ? 1 : 0;
    facts_.cutBlocks += counter.count();
  }
}

void PlanMap::countUse(std::int64_t elementBytes) {
  facts_.elementBytes = elementBytes;
  facts_.shardElements = buffer_.shardElements();
  facts_.bucketElements = buffer_.layout().unitElements;
  facts_.paddingElements = buffer_.unshardedElements() - facts_.bucketElements;
  facts_.leastUsed = std::numeric_limits<std::int64_t>::max();
  for (const PlanRow& row : rows_) {
    const std::int64_t used = buffer_.usedElements(row.firstDevice);
    facts_.mostUsed = std::max(facts_.mostUsed, used);
    facts_.leastUsed = std::min(facts_.leastUsed, used);
  }
  std::int64_t held = 0;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const auto [first, last] = buffer_.owners(i);
    facts_.splitTensors += last - first > 1 ? 1 : 0;
    held += tensors_[i].elements > 0 ? 1 : 0;
  }
  if (!buffer_.viewsIntoGathered()) facts_.copiesBefore = facts_.copiesAfter = held;
}

std::size_t PlanMap::rowOf(std::int64_t device) const {
  const auto after = std::ranges::upper_bound(rows_, device, std::ranges::less{}, &PlanRow::firstDevice);
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - rows_.begin(), 1) - 1);
}

std::vector<PlanPiece> PlanMap::pieces(std::size_t row) const {
  std::vector<PlanPiece> pieces;
  std::int64_t end = 0;
  const auto padTo = [&](std::int64_t at) {
    if (at > end) pieces.push_back({.begin = end, .end = at});
    end = at;
  };
  for (const core::TensorPart& part : buffer_.parts(rows_[row].firstDevice)) {
    padTo(part.shardOffset);
    end = part.shardOffset + part.elements;
    pieces.push_back({.begin = part.shardOffset,
                      .end = end,
                      .tensor = static_cast<std::int64_t>(part.tensor),
                      .tensorOffset = part.tensorOffset});
  }
  padTo(buffer_.shardElements());
  return pieces;
}

std::int64_t PlanMap::tensorNamed(const std::string& name) const {
  const auto at = std::ranges::find(tensors_, name, &PlanTensor::name);
  return at == tensors_.end() ? -1 : at - tensors_.begin();
}

std::int64_t PlanMap::block(std::int64_t index) const {
  const PlanTensor& t = tensor(index);
  return std::max<std::int64_t>(1, std::min(t.block, t.elements));
}

bool PlanMap::goesOn(const PlanPiece& piece) const {
  return !piece.padding() && piece.tensorOffset + piece.elements() < tensor(piece.tensor).elements;
}

bool PlanMap::cameFrom(const PlanPiece& piece) const { return !piece.padding() && piece.tensorOffset > 0; }

std::size_t pieceAt(std::span<const PlanPiece> pieces, std::int64_t element) {
  const auto at = std::ranges::upper_bound(pieces, element, std::ranges::less{}, &PlanPiece::end);
  return static_cast<std::size_t>(at - pieces.begin());
}

namespace {

std::string devicesText(std::int64_t first, std::int64_t last) {
  return first == last ? fmt::format("device {}", first) : fmt::format("devices {} to {}", first, last);
}

}  // namespace

std::string describePiece(const PlanMap& map, const PlanRow& row, const PlanPiece& piece,
                          std::int64_t element, const std::string& dtype) {
  using core::formatCount;
  const std::int64_t bytes = map.facts().elementBytes;
  std::string text = devicesText(row.firstDevice, row.lastDevice());
  if (row.devices > 1) text += fmt::format(" ({} alike; shown: device {})", row.devices, row.firstDevice);
  if (piece.padding())
    return fmt::format("padding\n{} elements, {}\nelements {} to {} of the shard\n{}",
                       formatCount(piece.elements()), core::formatBytes(piece.elements() * bytes),
                       formatCount(piece.begin), formatCount(piece.end - 1), text);
  const core::PlanTensor& t = map.tensor(piece.tensor);
  const std::int64_t at = piece.tensorOffset + std::clamp(element, piece.begin, piece.end - 1) - piece.begin;
  const std::int64_t first = piece.tensorOffset, last = first + piece.elements() - 1;
  std::string facts = fmt::format("{} [{}] {}\n", t.name, fmt::join(t.shape, " x "), dtype);
  facts += fmt::format("here: {} of {} elements, {}\n", formatCount(piece.elements()),
                       formatCount(t.elements), core::formatBytes(piece.elements() * bytes));
  facts += fmt::format("global elements {} to {}", formatCount(first), formatCount(last));
  if (!t.shape.empty() && t.shape.front() > 0) {
    const std::int64_t row0 = t.elements / t.shape.front();
    facts += fmt::format(", rows {} to {} of {}", formatCount(first / row0), formatCount(last / row0),
                         formatCount(t.shape.front()));
    facts += fmt::format("\nunder the pointer: element {} (row {}, column {})", formatCount(at),
                         formatCount(at / row0), formatCount(at % row0));
  }
  facts += fmt::format("\nlocal elements {} to {}\n{}", formatCount(piece.begin), formatCount(piece.end - 1),
                       text);
  const auto [owner, end] = map.buffer().owners(static_cast<std::size_t>(piece.tensor));
  facts += fmt::format("\nthe tensor lies on {}", devicesText(owner, end - 1));
  const std::int64_t block = map.block(piece.tensor), cut = map.cutBlocks(piece.tensor);
  if (block == t.elements)
    facts += "\nblock: the whole tensor";
  else if (block > 1)
    facts += fmt::format("\nblocks of {} elements", formatCount(block));
  if (block > 1)
    facts += cut == 0 ? ", none cut" : fmt::format(", {} CUT by device boundaries", formatCount(cut));
  return facts;
}

}  // namespace vsim::gui
