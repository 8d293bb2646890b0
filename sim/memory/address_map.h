#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/memory/block_store.h"

namespace vsim::sim {

/// Address of an allocated block -> its index: open addressing with linear probing, at most half full.
/// Address 0 is never stored.
class AddressMap {
 public:
  AddressMap() : slots_(1024) {}

  void insert(std::uint64_t address, BlockId block) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    place(address, block);
    ++used_;
  }
  /// kNoBlock when `address` is not an allocated block's.
  [[nodiscard]] BlockId find(std::uint64_t address) const {
    for (std::size_t i = home(address);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].address == address) return slots_[i].block;
      if (slots_[i].address == 0) return kNoBlock;
    }
  }
  /// Removes `address` and answers its block; kNoBlock when it is not there.
  BlockId take(std::uint64_t address) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t hole = home(address);
    while (slots_[hole].address != address) {
      if (slots_[hole].address == 0) return kNoBlock;
      hole = (hole + 1) & mask;
    }
    const BlockId block = slots_[hole].block;
    // Move later entries of the run into the hole, unless they would pass in front of their home.
    for (std::size_t i = (hole + 1) & mask; slots_[i].address != 0; i = (i + 1) & mask) {
      const std::size_t fromHome = (i - home(slots_[i].address)) & mask;
      if (fromHome >= ((i - hole) & mask)) {
        slots_[hole] = slots_[i];
        hole = i;
      }
    }
    slots_[hole] = Slot{};
    --used_;
    return block;
  }

 private:
  struct Slot {
    std::uint64_t address = 0;
    BlockId block = kNoBlock;
  };

  // Blocks start at multiples of 512; Fibonacci hashing spreads the rest.
  [[nodiscard]] std::size_t home(std::uint64_t address) const {
    return static_cast<std::size_t>(((address >> 9) * 0x9E3779B97F4A7C15ull) >> 32) & (slots_.size() - 1);
  }
  void place(std::uint64_t address, BlockId block) {
    std::size_t i = home(address);
    while (slots_[i].address != 0) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = {address, block};
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.address != 0) place(slot.address, slot.block);
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace vsim::sim
