#include "gpu/cuda/check/check_device.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <random>

namespace vsim::gpu::cuda {
namespace {

nlohmann::json clocksOf(device::Api& api) {
  device::ClockFacts clocks;
  if (!api.clocks(0, clocks).ok()) return nullptr;
  return {{"sm_hertz", clocks.smHertz},
          {"memory_hertz", clocks.memoryHertz},
          {"watts", clocks.powerWatts},
          {"celsius", clocks.celsius},
          {"throttled", clocks.throttled}};
}

nlohmann::json rowsOf(const CheckTable& table) {
  constexpr const char* kStates[] = {"passed", "failed", "skipped", "information"};
  nlohmann::json rows = nlohmann::json::array();
  for (const CheckRow& row : table.rows()) {
    nlohmann::json one{
        {"name", row.name}, {"state", kStates[static_cast<std::size_t>(row.state)]}, {"text", row.text}};
    if (!row.unit.empty() || row.value != 0) one.update({{"value", row.value}, {"unit", row.unit}});
    if (row.bar > 0) one["bar"] = row.bar;
    if (row.most > 0) one["most"] = row.most;
    rows.push_back(std::move(one));
  }
  return rows;
}

void allChecks(const CheckContext& context, bool speed) {
  checkMemory(context);
  checkKernels(context);
  checkCopies(context);
  checkProducts(context);
  checkAttention(context);
  checkNewtonSchulz(context);
  checkCollectives(context);
  checkHuge(context);
  if (!speed) return;
  checkBandwidth(context);
  checkProductSpeed(context);
}

/// Throws DeviceFailure where the device cannot even be opened.
nlohmann::json checkOpened(device::Api& api, unsigned int seed, bool speed, CheckTable& table) {
  device::DeviceFacts facts;
  device::Versions versions;
  require(api.useDevice(0));
  require(api.deviceFacts(0, facts));
  require(api.versions(versions));
  fmt::print(
      "{}: {} SMs, compute capability {}, {:.1f} GiB, {:.0f} GB/s, NVLink {:.0f} GB/s; driver {}, runtime "
      "{}, NCCL {}, cuBLASLt {}; seed {}\n",
      facts.name, facts.sms, facts.computeCapability, static_cast<double>(facts.memory) / (1 << 30),
      facts.memoryBytesPerSecond / 1e9, facts.nvlinkBytesPerSecond / 1e9, versions.driver, versions.runtime,
      versions.nccl, versions.blas, seed);
  std::mt19937 random(seed);
  device::Stream stream = nullptr;
  require(api.createStream(stream, false));
  const nlohmann::json before = clocksOf(api);
  allChecks({.api = api,
             .stream = stream,
             .facts = facts,
             .table = table,
             .random = random,
             .computes = api.name() == "cuda"},
            speed);
  const nlohmann::json after = clocksOf(api);
  require(api.destroyStream(stream));
  return {{"device", facts.name},
          {"compute_capability", facts.computeCapability},
          {"sms", facts.sms},
          {"memory", facts.memory},
          {"driver", versions.driver},
          {"runtime", versions.runtime},
          {"nccl", versions.nccl},
          {"cublaslt", versions.blas},
          {"clocks_before", before},
          {"clocks_after", after},
          {"seed", seed}};
}

}  // namespace

nlohmann::json checkDevice(device::Api& api, unsigned int seed, bool speed, CheckTable& table) {
  nlohmann::json json;
  try {
    json = checkOpened(api, seed, speed, table);
  } catch (const DeviceFailure& failure) {
    table.result("the device", false, failure.text);
  }
  json["checks"] = rowsOf(table);
  json["failed"] = table.count(CheckRow::State::failed);
  return json;
}

}  // namespace vsim::gpu::cuda
