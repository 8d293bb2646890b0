#include "gpu/host/spinner.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace vsim::gpu {
namespace {

std::atomic<int> spinning = 0;

int most() {
  static const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return 2 * threads;  // they give way to each other: one that has to sleep costs more
}

}  // namespace

Spinner::Ticket::Ticket() : granted(spinning.fetch_add(1, std::memory_order_relaxed) < most()) {}
Spinner::Ticket::~Ticket() { spinning.fetch_sub(1, std::memory_order_relaxed); }

void Spinner::pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace vsim::gpu
