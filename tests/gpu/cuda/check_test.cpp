// The program that checks devices, on a device that is right and on one that is not.

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "gpu/cuda/check/check_device.h"
#include "tests/gpu/stand_in/stand_in.h"

using namespace vsim;
using gpu::cuda::CheckRow;
using gpu::cuda::CheckTable;

namespace {

/// Adds one to the last element of what it scales.
class WrongScale : public test::StandIn {
 public:
  using StandIn::StandIn;
  Status scale(void* x, core::DType type, std::int64_t elements, float factor, Stream stream) override {
    Status status = StandIn::scale(x, type, elements, factor, stream);
    void* const last = static_cast<char*>(x) + (elements - 1) * core::bytesOf(type);
    return status.ok() ? fillBytes(last, 0x3c, static_cast<std::size_t>(core::bytesOf(type)), stream)
                       : status;
  }
};

}  // namespace

TEST_CASE("vsim-gpu-check: a device that computes what the host computes passes") {
  test::StandIn device({.devices = 2});
  CheckTable table;
  const nlohmann::json json = gpu::cuda::checkDevice(device, 42, true, table);
  for (const CheckRow& row : table.rows()) {
    INFO(row.name << ": " << row.text);
    CHECK(row.state != CheckRow::State::failed);
  }
  CHECK(json["failed"] == 0);
  CHECK(json["seed"] == 42);
  CHECK(json["checks"].size() == table.rows().size());
  CHECK(table.count(CheckRow::State::passed) > 20);
  CHECK(device.leaks().empty());
  CHECK(device.violations().empty());
}

TEST_CASE("vsim-gpu-check: a measurement fails below its bar, and above the most where there is one") {
  CheckTable table;
  table.measured("free", 1, "GB/s", 0, "");
  for (const double value : {0.8, 0.95, 1.05, 1.2}) table.measured("at least", value, "", 0.9, "");
  for (const double value : {0.8, 0.95, 1.05, 1.2}) table.measured("within", value, "", 0.9, "", 1.1);
  using enum CheckRow::State;
  const std::vector expected{information, failed, passed, passed, passed, failed, passed, passed, failed};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO(table.rows()[i].text);
    CHECK(table.rows()[i].state == expected[i]);
  }
  CHECK(table.rows()[8].text.find("(0.9 to 1.1)") != std::string::npos);
}

TEST_CASE("vsim-gpu-check: one wrong element is found, and a broken device is told") {
  WrongScale wrong({.devices = 1});
  CheckTable table;
  CHECK(gpu::cuda::checkDevice(wrong, 1, false, table)["failed"] == 3);  // one a type

  test::StandIn broken({.devices = 1, .faults = {{.kind = test::Fault::Kind::call, .call = "createStream"}}});
  CheckTable second;
  CHECK(gpu::cuda::checkDevice(broken, 1, false, second)["failed"] == 1);
  CHECK(second.rows().back().text.find("unknown error") != std::string::npos);
}
