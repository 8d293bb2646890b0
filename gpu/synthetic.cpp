#include "gpu/synthetic.h"

#include "gpu/synthetic_value.h"

namespace vsim::gpu {
namespace {

// FNV-1a, 64 bits (Fowler, Noll and Vo).
std::uint64_t hash(const std::string& text) {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return value;
}

std::uint64_t join(std::uint64_t a, std::uint64_t b) { return mix(a ^ mix(b)); }

std::uint64_t baseOf(const TensorKey& key) {
  return join(join(key.seed, hash(key.name)), static_cast<std::uint64_t>(key.coordinate));
}

}  // namespace

float valueOfBase(std::uint64_t base, std::int64_t element) { return syntheticValue(base, element); }

std::uint64_t mix(std::uint64_t x) { return mixedBits(x); }

InitialValues::InitialValues(const TensorKey& key) : base_(baseOf(key)) {}
float InitialValues::operator()(std::int64_t element) const { return valueOfBase(base_, element); }

GradientValues::GradientValues(const TensorKey& key, int rank, int step, int microBatch)
    : base_(join(
          join(join(baseOf(key), 1U + static_cast<std::uint64_t>(rank)), static_cast<std::uint64_t>(step)),
          static_cast<std::uint64_t>(microBatch))) {}
float GradientValues::operator()(std::int64_t element) const { return valueOfBase(base_, element); }

}  // namespace vsim::gpu
