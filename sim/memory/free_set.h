#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/memory/block_store.h"

namespace vsim::sim {

/// Free blocks of one pool and stream, ordered by size, age of their range, address. A sorted array: the sets
/// hold tens to hundreds of blocks, where shifting 16-byte keys costs less than a tree's cache misses.
class FreeSet {
 public:
  struct Key {
    core::Bytes size;
    std::uint32_t range;
    BlockId block;
  };

  void insert(const NodeStore<Block>& blocks, BlockId id) {
    const Block& block = blocks[id];
    const Key key{block.size, block.range, id};
    keys_.insert(lowerBound(blocks, key), key);
  }
  void erase(const NodeStore<Block>& blocks, BlockId id) {
    const Block& block = blocks[id];
    keys_.erase(lowerBound(blocks, Key{block.size, block.range, id}));
  }
  /// Position of the first block with at least `size` bytes.
  [[nodiscard]] std::size_t firstOfSize(core::Bytes size) const {
    const auto at = std::lower_bound(keys_.begin(), keys_.end(), size,
                                     [](const Key& key, core::Bytes wanted) { return key.size < wanted; });
    return static_cast<std::size_t>(at - keys_.begin());
  }
  void eraseAt(std::size_t position) { keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(position)); }
  [[nodiscard]] const std::vector<Key>& keys() const { return keys_; }

 private:
  std::vector<Key>::iterator lowerBound(const NodeStore<Block>& blocks, const Key& key) {
    return std::lower_bound(keys_.begin(), keys_.end(), key, [&](const Key& a, const Key& b) {
      if (a.size != b.size) return a.size < b.size;
      if (a.range != b.range) return a.range < b.range;
      return blocks[a.block].address < blocks[b.block].address;
    });
  }
  std::vector<Key> keys_;
};

/// Unmapped pieces of expandable ranges of one pool and stream, by address.
class UnmappedSet {
 public:
  void insert(const NodeStore<Block>& blocks, BlockId id) { ids_.insert(find(blocks, id), id); }
  void erase(const NodeStore<Block>& blocks, BlockId id) { ids_.erase(find(blocks, id)); }
  [[nodiscard]] const std::vector<BlockId>& ids() const { return ids_; }

 private:
  std::vector<BlockId>::iterator find(const NodeStore<Block>& blocks, BlockId id) {
    return std::lower_bound(ids_.begin(), ids_.end(), id,
                            [&](BlockId a, BlockId b) { return blocks[a].address < blocks[b].address; });
  }
  std::vector<BlockId> ids_;
};

}  // namespace vsim::sim
