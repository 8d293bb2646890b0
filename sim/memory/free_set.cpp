#include "sim/memory/free_set.h"

#include <algorithm>

namespace vsim::sim {

std::uint32_t FreeSet::lowerBound(const NodeStore<Block>& blocks, const Bin& bin, const Key& key) {
  const auto before = [&](const Key& a) {
    if (a.size != key.size) return a.size < key.size;
    if (a.range != key.range) return a.range < key.range;
    return a.block != key.block && blocks[a.block].address < blocks[key.block].address;
  };
  std::uint32_t first = 0, count = bin.count;
  if (count > 0 && !before(keyAt(bin, 0))) return 0;  // the usual place
  while (count > 0) {
    const std::uint32_t half = count / 2;
    if (before(keyAt(bin, first + half))) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

// Centres the keys in a larger array.
void FreeSet::makeRoom(Bin& bin) {
  std::vector<Key> larger(std::max<std::size_t>(8, 3 * std::size_t{bin.count}));
  const auto head = static_cast<std::uint32_t>((larger.size() - bin.count) / 2);
  const auto from = bin.keys.begin() + bin.head;
  std::copy(from, from + bin.count, larger.begin() + head);
  bin.keys = std::move(larger);
  bin.head = head;
}

void FreeSet::insert(const NodeStore<Block>& blocks, BlockId id) {
  if (bins_.empty()) bins_.resize(kBins);
  const Block& block = blocks[id];
  const Key key{block.size, block.range, id};
  const std::uint32_t number = binOf(block.size);
  Bin& bin = bins_[number];
  if (bin.head == 0 || bin.head + bin.count == bin.keys.size()) makeRoom(bin);
  const std::uint32_t at = lowerBound(blocks, bin, key);
  Key* const first = bin.keys.data() + bin.head;
  if (2 * at < bin.count) {
    std::copy(first, first + at, first - 1);
    --bin.head;
    first[static_cast<std::ptrdiff_t>(at) - 1] = key;
  } else {
    std::copy_backward(first + at, first + bin.count, first + bin.count + 1);
    first[at] = key;
  }
  ++bin.count;
  used_[number / 64] |= std::uint64_t{1} << (number % 64);
}

void FreeSet::erase(const NodeStore<Block>& blocks, BlockId id) {
  const Block& block = blocks[id];
  const std::uint32_t number = binOf(block.size);
  eraseAt({number, lowerBound(blocks, bins_[number], Key{block.size, block.range, id})});
}

void FreeSet::eraseAt(Cursor at) {
  Bin& bin = bins_[at.bin];
  Key* const first = bin.keys.data() + bin.head;
  if (2 * at.index < bin.count) {
    std::copy_backward(first, first + at.index, first + at.index + 1);
    ++bin.head;
  } else {
    std::copy(first + at.index + 1, first + bin.count, first + at.index);
  }
  if (--bin.count == 0) {
    used_[at.bin / 64] &= ~(std::uint64_t{1} << (at.bin % 64));
    bin.head = static_cast<std::uint32_t>(bin.keys.size() / 2);
  }
}

FreeSet::Cursor FreeSet::firstOfSize(core::Bytes size) const {
  const std::uint32_t number = nextBin(binOf(size));
  if (number == kBins) return end();
  const Bin& bin = bins_[number];
  if (keyAt(bin, 0).size >= size) return {number, 0};
  std::uint32_t first = 0, count = bin.count;
  while (count > 0) {
    const std::uint32_t half = count / 2;
    if (keyAt(bin, first + half).size < size) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  if (first < bin.count) return {number, first};
  return {nextBin(number + 1), 0};
}

FreeSet::Cursor FreeSet::previous(Cursor at) const {
  if (at.bin < kBins && at.index > 0) return {at.bin, at.index - 1};
  for (std::uint32_t number = at.bin; number-- > 0;)
    if (used_[number / 64] >> (number % 64) & 1) return {number, bins_[number].count - 1};
  return end();
}

std::vector<BlockId>::iterator UnmappedSet::find(const NodeStore<Block>& blocks, BlockId id) {
  return std::lower_bound(ids_.begin(), ids_.end(), id,
                          [&](BlockId a, BlockId b) { return blocks[a].address < blocks[b].address; });
}

}  // namespace vsim::sim
