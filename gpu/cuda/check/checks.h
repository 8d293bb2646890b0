#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "gpu/device/api.h"

namespace vsim::gpu::cuda {

/// One line of the table.
struct CheckRow {
  enum class State { passed, failed, skipped, information };
  std::string name;
  State state = State::passed;
  std::string text{};  // what was found, or why it was skipped
  double value = 0;    // a measurement; 0: none
  std::string unit{};
  double bar = 0;   // least value that passes; 0: none
  double most = 0;  // largest value that passes; 0: none
};

/// Rows as they come: printed at once, kept for the JSON. Not thread-safe.
class CheckTable {
 public:
  void add(CheckRow row);
  void result(const std::string& name, bool passed, const std::string& text);
  void skip(const std::string& name, const std::string& why);
  /// A measurement; `bar` > 0: fails below; `most` > 0: and above that.
  void measured(const std::string& name, double value, const std::string& unit, double bar,
                const std::string& text, double most = 0);
  [[nodiscard]] const std::vector<CheckRow>& rows() const { return rows_; }
  [[nodiscard]] int count(CheckRow::State state) const;

 private:
  std::vector<CheckRow> rows_;
};

/// A call of the device that failed: ends the check that made it.
struct DeviceFailure {
  std::string text;
};
void require(const device::Status& status);

/// Device memory between guards that hold a pattern; the memory itself is poisoned too. `skew`: elements that
/// it begins off an aligned address.
class DeviceBuffer {
 public:
  DeviceBuffer(device::Api& api, device::Stream stream, core::DType type, std::int64_t elements,
               int skew = 0);
  ~DeviceBuffer();
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  [[nodiscard]] void* data() const { return static_cast<char*>(memory_) + begin_; }
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data());
  }
  [[nodiscard]] std::int64_t elements() const { return elements_; }
  [[nodiscard]] core::DType type() const { return type_; }
  void upload(const void* from);
  [[nodiscard]] std::vector<std::uint8_t> download(std::int64_t first = 0, std::int64_t count = -1) const;
  /// Values that the type has.
  void write(const std::vector<float>& values);
  [[nodiscard]] std::vector<float> read(std::int64_t first = 0, std::int64_t count = -1) const;
  [[nodiscard]] bool guardsIntact() const;

 private:
  device::Api& api_;
  device::Stream stream_;
  core::DType type_;
  std::int64_t elements_;
  std::size_t begin_, bytes_;
  void* memory_ = nullptr;
};

/// What a check works with.
struct CheckContext {
  device::Api& api;
  device::Stream stream = nullptr;
  device::DeviceFacts facts;
  CheckTable& table;
  std::mt19937& random;
  bool computes = true;  // products and attention compute, and times mean something: not on a stand-in

  [[nodiscard]] std::vector<float> randomValues(core::DType type, std::int64_t elements,
                                                float scale = 1) const;
  void finish() const { require(api.synchronize(stream)); }
  /// Runs `check`, which returns "" or what is wrong, and notes the result.
  void check(const std::string& name, const std::function<std::string()>& body) const;
  /// Median seconds of one of `repetitions` calls, after some to warm up.
  [[nodiscard]] double seconds(int repetitions, const std::function<device::Status()>& call) const;
};

/// "" or where two lists differ by more than `tolerance` (absolute) first, and how often.
[[nodiscard]] std::string difference(const std::vector<float>& found, const std::vector<float>& expected,
                                     double tolerance = 0);
/// Bytes of the stored numbers, and back; values that the type has (gpu/rounding.h; fp8 is e4m3).
[[nodiscard]] std::vector<std::uint8_t> encode(core::DType type, const std::vector<float>& values);
[[nodiscard]] std::vector<float> decode(core::DType type, const std::vector<std::uint8_t>& bytes);

void checkMemory(const CheckContext& context);
void checkKernels(const CheckContext& context);
void checkCopies(const CheckContext& context);
void checkHuge(const CheckContext& context);
void checkProducts(const CheckContext& context);
void checkAttention(const CheckContext& context);
void checkNewtonSchulz(const CheckContext& context);
/// On all devices: one rank each.
void checkCollectives(const CheckContext& context);
void checkBandwidth(const CheckContext& context);
void checkProductSpeed(const CheckContext& context);

}  // namespace vsim::gpu::cuda
