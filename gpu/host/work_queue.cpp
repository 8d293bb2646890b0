#include "gpu/host/work_queue.h"

namespace vsim::gpu {

WorkQueue::~WorkQueue() {
  while (has(consumed_)) consume(Act::destroy);
  while (reading_ != nullptr) delete std::exchange(reading_, reading_->next);
  delete spare_.load();
}

void WorkQueue::nextChunk() {
  Chunk* chunk = spare_.exchange(nullptr, std::memory_order_acquire);
  if (chunk == nullptr) chunk = new Chunk;
  chunk->next = nullptr;
  writing_->next = chunk;
  new (writing_->bytes + written_) Record;
  writing_ = chunk;
  written_ = 0;
}

void WorkQueue::runNext() { consume(Act::run); }

void WorkQueue::consume(Act act) {
  const Record* record = std::launder(reinterpret_cast<const Record*>(reading_->bytes + read_));
  if (record->actor == nullptr) {
    Chunk* const left = std::exchange(reading_, reading_->next);
    delete spare_.exchange(left, std::memory_order_release);
    read_ = 0;
    record = std::launder(reinterpret_cast<const Record*>(reading_->bytes));
  }
  void* const work = reading_->bytes + read_ + kHeader;
  read_ += record->size;
  ++consumed_;
  record->actor(work, act);
}

}  // namespace vsim::gpu
