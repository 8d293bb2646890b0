#include "app/collective.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "core/profile/profile.h"
#include "sim/cluster/cluster_catalogue.h"
#include "sim/network/collective_table.h"
#include "sim/network/profiled_collectives.h"

namespace vsim::app {
namespace {

using namespace core;

constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

Result<CollectiveKind> kindNamed(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  for (std::size_t i = 0; i < std::size(kCollectiveNames); ++i)
    if (kCollectiveNames[i] == name) return static_cast<CollectiveKind>(i);
  return fail("unknown collective \"" + name + "\"",
              fmt::format("known: {}", fmt::join(kCollectiveNames, ", ")));
}

Result<std::vector<std::int64_t>> sizesOf(const std::string& text) {
  const std::size_t dots = text.find("..");
  auto least = ncclTestsSize(text.substr(0, dots));
  if (!least) return tl::unexpected(least.error());
  if (dots == std::string::npos) return std::vector<std::int64_t>{*least};
  auto most = ncclTestsSize(text.substr(dots + 2));
  if (!most) return tl::unexpected(most.error());
  if (*most < *least) return fail("--bytes " + text + ": the range is empty");
  return sim::sizesBetween(*least, *most);
}

}  // namespace

Result<std::int64_t> ncclTestsSize(const std::string& text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string unit(rest, end);
  int shift = -1;
  if (unit.empty() || unit == "B") shift = 0;
  if (unit == "K" || unit == "k") shift = 10;
  if (unit == "M" || unit == "m") shift = 20;
  if (unit == "G" || unit == "g") shift = 30;
  if (error != std::errc() || value < 1 || shift < 0)
    return fail("\"" + text + "\" is not a size", "as in nccl-tests: 512K, 1M, 8G or a range 1M..8G");
  if (value > (kMostBytes >> shift)) return fail("\"" + text + "\" is too large", "at most 2^50 bytes");
  return value << shift;
}

ResultAll<std::string> collectiveText(const CollectiveOptions& options) {
  Errors errors;
  const auto keep = [&](auto result) {
    if (!result) errors.push_back(result.error());
    return result;
  };
  const auto kind = keep(kindNamed(options.kind));
  const auto cluster = keep(sim::clusterPreset(options.cluster));
  const auto sizes = keep(sizesOf(options.bytes));
  const auto dtype = dtypeFromName(options.dtype);
  if (!dtype)
    errors.push_back({.message = "unknown type \"" + options.dtype + "\"", .hint = "bf16, fp16, fp32, fp8"});
  if (options.ranks < 1 || options.stride < 1 || options.ranks > 10'000'000 || options.stride > 10'000'000)
    errors.push_back({.message = "--ranks and --stride count from 1 to 10,000,000"});
  Profile profile;
  if (!options.profile.empty()) {
    auto read = readProfile(options.profile);
    if (read)
      profile = std::move(*read);
    else
      errors.insert(errors.end(), read.error().begin(), read.error().end());
  }
  if (!errors.empty()) return tl::unexpected(errors);
  const sim::ProfiledCollectives network(sim::CollectiveModel(*cluster), std::move(profile));
  return sim::collectiveTable(network,
                              {.kind = *kind,
                               .group = {.name = "group", .size = options.ranks, .stride = options.stride},
                               .dtype = *dtype,
                               .sizes = *sizes});
}

}  // namespace vsim::app
