#pragma once

#include "core/base/operation.h"
#include "gpu/host/host_scratch.h"
#include "gpu/host/host_work.h"

namespace vsim::gpu {

/// The real work of compute kernels on the host, in fp32 and in the calling thread alone: matrix products by
/// Eigen, attention as its products and softmax per head, memory-bound kernels as loops that read and write.
/// Data is scratch of the object's own: what is computed means nothing, how long it takes does. One object
/// per rank and stream; not thread-safe.
class HostCompute {
 public:
  static constexpr core::Bytes kScratch = core::Bytes{64} << 20U;

  /// `scale`: part of each operation's work that is done (host_work.h). `scratch`: bytes that memory-bound
  /// kernels go over, again and again where they move more; it should exceed the caches. Products and
  /// attention take up to 20 MB and more for head sizes beyond 256. Memory is taken when it is first needed.
  explicit HostCompute(double scale, core::Bytes scratch = kScratch);

  /// Takes the scratch that the operation needs, so that its first run takes no longer than the others.
  void prepare(const core::Operation& operation);
  void run(const core::Operation& operation);

  /// What all runs so far have done, counted where it is done.
  [[nodiscard]] const HostWork& done() const { return done_; }
  /// Depends on what all runs have computed.
  [[nodiscard]] float result() const { return result_; }

 private:
  void take(const HostProduct& shape);
  void take(const HostAttention& shape);
  void take(const HostTraffic& traffic);
  [[nodiscard]] std::int64_t longest(const HostTraffic& traffic) const;
  void multiply(const HostProduct& shape);
  void multiply(std::int64_t m, std::int64_t n, std::int64_t k);
  void attend(const HostAttention& shape);
  void attendBackward(const HostAttention& shape);
  void count(const HostAttention& shape, std::int64_t rows, std::int64_t keys);
  void move(const HostTraffic& traffic);
  void takeIn(float value) { result_ = 0.5F * result_ + value; }

  double scale_;
  std::int64_t floats_;  // of each scratch that memory-bound kernels go over
  HostScratch read_, written_;
  HostWork done_;
  float result_ = 0;
};

}  // namespace vsim::gpu
