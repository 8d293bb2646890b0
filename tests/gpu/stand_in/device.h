#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/device/api.h"

namespace vsim::test {

/// What goes wrong and would go unnoticed on host memory: collected for the test.
class Violations {
 public:
  void add(std::string text) {
    const std::lock_guard lock(mutex_);
    all_.push_back(std::move(text));
  }
  [[nodiscard]] std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> all_;
};

/// Memory of one device and whether it still works. Memory is made of NaNs at first, with red zones around
/// every allocation; only what is allocated may be touched. Thread-safe.
class StandInDevice {
 public:
  StandInDevice(int number, core::Bytes capacity, Violations& violations)
      : number_(number), capacity_(capacity), violations_(violations) {}

  [[nodiscard]] gpu::device::Status allocate(void*& out, std::size_t bytes);
  /// Memory that is not allocated is an error, and a violation.
  [[nodiscard]] gpu::device::Status release(void* memory);
  /// True when work may touch these bytes; else the device breaks, as a GPU does at an illegal access.
  bool touches(const void* memory, std::size_t bytes, std::size_t alignment, const char* who);

  void breakDown(const gpu::device::Status& status);
  [[nodiscard]] gpu::device::Status status() const;
  [[nodiscard]] core::Bytes used() const;
  [[nodiscard]] core::Bytes capacity() const { return capacity_; }
  [[nodiscard]] std::size_t allocations() const;

 private:
  struct Allocation {
    std::unique_ptr<std::byte[]> storage{};
    std::size_t bytes = 0;
  };
  int number_;
  core::Bytes capacity_;
  Violations& violations_;
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Allocation> allocations_;
  core::Bytes used_ = 0;
  gpu::device::Status status_;
};

}  // namespace vsim::test
