#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "gpu/device/device_block.h"

namespace vsim::gpu::device {

/// Tables of segments on one rank's device, by what they are made of: a kernel and the addresses of its
/// buffers. A table is uploaded when it is first needed and kept: an allocator that has warmed up gives the
/// same addresses in every step. The rank's host thread only.
class SegmentTables {
 public:
  using Key = std::vector<std::uintptr_t>;
  struct Table {
    const CopySegment* segments = nullptr;  // device memory
    std::int64_t count = 0, longest = 0, elements = 0;
  };

  /// `most`: bytes that all tables may take before they are forgotten and made anew.
  explicit SegmentTables(const RankContext& context, std::size_t most = kMostBytes);
  ~SegmentTables();
  SegmentTables(const SegmentTables&) = delete;
  SegmentTables& operator=(const SegmentTables&) = delete;

  /// Null where there is none. A launch on `stream` uses it.
  [[nodiscard]] const Table* find(const Key& key, Stream stream);
  /// Uploads it. When it returns, any stream may use the table.
  const Table& add(const Key& key, const std::vector<CopySegment>& segments, Stream stream);
  /// From now on nothing goes back: the device still uses it.
  void abandon();

 private:
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20U;
  void* place(std::size_t bytes);
  void forget();

  const RankContext& context_;
  std::size_t most_;
  Stream upload_ = nullptr;  // waits for nothing but uploads
  std::map<Key, Table> tables_;
  std::set<Stream> users_;
  std::vector<std::unique_ptr<DeviceBlock>> blocks_;
  std::size_t used_ = 0, held_ = 0;  // bytes of the last block, of all blocks
};

}  // namespace vsim::gpu::device
