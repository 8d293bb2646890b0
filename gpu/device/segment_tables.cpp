#include "gpu/device/segment_tables.h"

#include <algorithm>

namespace vsim::gpu::device {

SegmentTables::SegmentTables(const RankContext& context, std::size_t most) : context_(context), most_(most) {}

SegmentTables::~SegmentTables() {
  if (upload_ != nullptr) static_cast<void>(context_.api.destroyStream(upload_));
}

const SegmentTables::Table* SegmentTables::find(const Key& key, Stream stream) {
  const auto found = tables_.find(key);
  if (found == tables_.end()) return nullptr;
  users_.insert(stream);
  return &found->second;
}

const SegmentTables::Table& SegmentTables::add(const Key& key, const std::vector<CopySegment>& segments,
                                               Stream stream) {
  const std::size_t bytes = segments.size() * sizeof(CopySegment);
  Table table{.count = static_cast<std::int64_t>(segments.size())};
  for (const CopySegment& segment : segments) {
    table.longest = std::max(table.longest, segment.count);
    table.elements += segment.count;
  }
  if (bytes > 0) {
    void* const memory = place(bytes);
    // Not on the stream of the launch: the host would wait for the work before it.
    if (upload_ == nullptr) context_.check(context_.api.createStream(upload_, true));
    context_.check(context_.api.copyToDevice(memory, segments.data(), bytes, upload_));
    context_.check(context_.api.synchronize(upload_));
    table.segments = static_cast<const CopySegment*>(memory);
  }
  users_.insert(stream);
  return tables_.insert_or_assign(key, table).first->second;
}

void* SegmentTables::place(std::size_t bytes) {
  constexpr std::size_t kBlock = std::size_t{1} << 20U;
  if (blocks_.empty() || blocks_.back()->bytes() - used_ < bytes) {
    if (held_ + std::max(bytes, kBlock) > most_) forget();
    blocks_.push_back(std::make_unique<DeviceBlock>(context_, std::max(bytes, kBlock), "tables of segments"));
    held_ += blocks_.back()->bytes();
    used_ = 0;
  }
  void* const memory = static_cast<std::byte*>(blocks_.back()->memory()) + used_;
  used_ += bytes;
  return memory;
}

/// Once no launch reads them any more.
void SegmentTables::forget() {
  for (const Stream stream : users_) context_.check(context_.api.synchronize(stream));
  users_.clear();
  tables_.clear();
  blocks_.clear();
  used_ = held_ = 0;
}

void SegmentTables::abandon() {
  upload_ = nullptr;
  for (const auto& block : blocks_) block->abandon();
}

}  // namespace vsim::gpu::device
