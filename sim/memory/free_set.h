#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/memory/block_store.h"

namespace vsim::sim {

/// Free blocks of one pool and stream, ordered by size, age of their range, address.
///
/// Four bins per power of two, found through a bitmap; a bin is a sorted array with room at both ends that
/// moves its shorter side. Training steps take equal blocks oldest first and give them back youngest first,
/// which is the front of a bin both times: constant time where a tree would miss the cache.
class FreeSet {
 public:
  /// Where a block stands in the order; valid until the set changes.
  struct Cursor {
    std::uint32_t bin = kBins, index = 0;
    friend bool operator==(const Cursor&, const Cursor&) = default;
  };

  void insert(const NodeStore<Block>& blocks, BlockId id);
  void erase(const NodeStore<Block>& blocks, BlockId id);
  void eraseAt(Cursor at);
  /// The first block with at least `size` bytes.
  [[nodiscard]] Cursor firstOfSize(core::Bytes size) const;
  [[nodiscard]] Cursor begin() const { return {nextBin(0), 0}; }
  [[nodiscard]] static Cursor end() { return {}; }
  [[nodiscard]] Cursor next(Cursor at) const {
    if (at.index + 1 < bins_[at.bin].count) return {at.bin, at.index + 1};
    return {nextBin(at.bin + 1), 0};
  }
  /// The one before; end() when `at` is the first.
  [[nodiscard]] Cursor previous(Cursor at) const;
  [[nodiscard]] BlockId block(Cursor at) const { return keyAt(bins_[at.bin], at.index).block; }
  [[nodiscard]] core::Bytes size(Cursor at) const { return keyAt(bins_[at.bin], at.index).size; }

 private:
  struct Key {
    core::Bytes size = 0;
    std::uint32_t range = 0;
    BlockId block = 0;
  };
  struct Bin {
    std::vector<Key> keys;  // in use: [head, head + count)
    std::uint32_t head = 0, count = 0;
  };
  static constexpr std::uint32_t kBins = 256;

  static std::uint32_t binOf(core::Bytes size) {
    const auto value = static_cast<std::uint64_t>(size);
    const auto log2 =
        static_cast<std::uint32_t>(63 - std::countl_zero(value));  // at least 9: blocks have 512 bytes
    return 4 * log2 + static_cast<std::uint32_t>((value >> (log2 - 2)) & 3);
  }
  static const Key& keyAt(const Bin& bin, std::uint32_t index) { return bin.keys[bin.head + index]; }
  [[nodiscard]] std::uint32_t nextBin(std::uint32_t from) const {
    for (std::uint32_t word = from / 64; word < used_.size(); ++word) {
      const std::uint64_t left = word == from / 64 ? used_[word] >> (from % 64) << (from % 64) : used_[word];
      if (left != 0) return 64 * word + static_cast<std::uint32_t>(std::countr_zero(left));
    }
    return kBins;
  }
  static std::uint32_t lowerBound(const NodeStore<Block>& blocks, const Bin& bin, const Key& key);
  static void makeRoom(Bin& bin);

  std::vector<Bin> bins_;  // kBins, made with the first block
  std::array<std::uint64_t, kBins / 64> used_{};
};

/// Unmapped pieces of expandable ranges of one pool and stream, by address.
class UnmappedSet {
 public:
  void insert(const NodeStore<Block>& blocks, BlockId id) { ids_.insert(find(blocks, id), id); }
  void erase(const NodeStore<Block>& blocks, BlockId id) { ids_.erase(find(blocks, id)); }
  [[nodiscard]] const std::vector<BlockId>& ids() const { return ids_; }

 private:
  std::vector<BlockId>::iterator find(const NodeStore<Block>& blocks, BlockId id);
  std::vector<BlockId> ids_;
};

}  // namespace vsim::sim
