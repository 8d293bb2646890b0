#include "traces/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "core/base/checked.h"
#include "traces/checkpoint_input.h"

namespace vsim::traces {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "tensors are stored as they lie in memory");

constexpr std::pair<core::DType, std::string_view> kDTypes[] = {
    {core::DType::fp32, "F32"},    {core::DType::bf16, "BF16"}, {core::DType::fp16, "F16"},
    {core::DType::fp8, "F8_E4M3"}, {core::DType::int64, "I64"}, {core::DType::int32, "I32"},
    {core::DType::uint8, "U8"}};
constexpr std::int64_t kLengthBytes = 8;

core::Result<SafetensorsEntry> entryFrom(const std::string& name, const Json& json, const std::string& path) {
  const auto wrong = [&](const char* what) {
    return fileFailure(path, fmt::format("tensor '{}': {}", name, what));
  };
  if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") ||
      !json.contains("data_offsets"))
    return wrong("needs dtype, shape and data_offsets");
  SafetensorsEntry entry{.name = name, .shape = {}};
  const auto dtype =
      json["dtype"].is_string() ? dtypeFromSafetensors(json["dtype"].get<std::string>()) : std::nullopt;
  if (!dtype) return wrong("unknown dtype");
  entry.dtype = *dtype;
  auto shape = sizesFrom(json["shape"]);
  if (!shape) return wrong("a shape that is no list of sizes");
  const auto range = sizesFrom(json["data_offsets"]);
  if (!range || range->size() != 2 || (*range)[0] > (*range)[1])
    return wrong("data_offsets that are no range of bytes");
  entry.begin = (*range)[0];
  entry.end = (*range)[1];
  auto bytes = std::optional(core::bytesOf(entry.dtype));
  for (const std::int64_t size : *shape)
    if (bytes) bytes = core::checkedMultiply(*bytes, size);
  if (!bytes || *bytes != entry.end - entry.begin) return wrong("data_offsets do not fit dtype and shape");
  entry.shape = std::move(*shape);
  return entry;
}

core::Result<void> checkRanges(const SafetensorsHeader& header, const InputFile& file) {
  std::vector<const SafetensorsEntry*> order;
  for (const auto& [name, entry] : header.entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  std::int64_t end = 0;
  for (const SafetensorsEntry* entry : order) {
    if (entry->begin != end)
      return fileFailure(
          file.path(),
          fmt::format("tensor '{}' begins at byte {} of the data, where {} is expected: {}", entry->name,
                      entry->begin, end, entry->begin < end ? "tensors overlap" : "a hole"));
    end = entry->end;
  }
  const std::int64_t present = file.size() - header.dataBegin;
  if (end > present)
    return fileFailure(file.path(),
                       fmt::format("truncated: {} bytes of data, the header lists {}", present, end));
  if (end < present)
    return fileFailure(file.path(), fmt::format("{} bytes of data, the header lists only {}", present, end));
  return {};
}

}  // namespace

std::string_view safetensorsName(core::DType type) {
  for (const auto& [dtype, name] : kDTypes)
    if (dtype == type) return name;
  return "?";
}

std::optional<core::DType> dtypeFromSafetensors(std::string_view name) {
  for (const auto& [dtype, known] : kDTypes)
    if (known == name) return dtype;
  return std::nullopt;
}

core::Result<std::string> safetensorsHeader(std::span<const SafetensorsEntry> entries,
                                            const std::map<std::string, std::string>& metadata) {
  Json json = Json::object();
  if (!metadata.empty()) json["__metadata__"] = metadata;
  for (const SafetensorsEntry& entry : entries)
    json[entry.name] = {{"dtype", safetensorsName(entry.dtype)},
                        {"shape", entry.shape},
                        {"data_offsets", {entry.begin, entry.end}}};
  std::string text;
  try {
    text = json.dump();
  } catch (const Json::exception&) {
    return core::fail("a tensor name or label that is not UTF-8");
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  if (static_cast<std::int64_t>(text.size()) >= kLargestSafetensorsHeader)
    return core::fail("a safetensors header of 100 MB or more", "save fewer tensors in one checkpoint");
  const auto length = std::bit_cast<std::array<char, kLengthBytes>>(std::uint64_t{text.size()});
  return std::string(length.begin(), length.end()) + text;
}

core::Result<SafetensorsHeader> readSafetensorsHeader(const InputFile& file) {
  std::array<std::byte, kLengthBytes> prefix{};
  if (file.size() < kLengthBytes)
    return fileFailure(file.path(), fmt::format("truncated: {} bytes are no safetensors file", file.size()));
  if (auto read = file.read(0, prefix); !read) return tl::unexpected(read.error());
  const auto length = std::bit_cast<std::uint64_t>(prefix);
  if (length >= static_cast<std::uint64_t>(kLargestSafetensorsHeader))
    return fileFailure(file.path(), fmt::format("a header of {} bytes, less than {} are allowed", length,
                                                kLargestSafetensorsHeader));
  if (static_cast<std::int64_t>(length) > file.size() - kLengthBytes)
    return fileFailure(file.path(),
                       fmt::format("truncated: a header of {} bytes in a file of {}", length, file.size()));
  std::string text(length, '\0');
  if (auto read = file.read(kLengthBytes, std::as_writable_bytes(std::span(text))); !read)
    return tl::unexpected(read.error());
  const auto json = parseStrictJson(text, file.path());
  if (!json) return tl::unexpected(json.error());
  if (!json->is_object()) return fileFailure(file.path(), "a header that is no JSON object");
  SafetensorsHeader header;
  header.dataBegin = kLengthBytes + static_cast<std::int64_t>(length);
  for (const auto& [name, value] : json->items()) {
    if (name == "__metadata__") {
      if (!value.is_object()) return fileFailure(file.path(), "__metadata__ that is no object of strings");
      for (const auto& [key, one] : value.items()) {
        if (!one.is_string()) return fileFailure(file.path(), "__metadata__ that is no object of strings");
        header.metadata[key] = one.get<std::string>();
      }
      continue;
    }
    auto entry = entryFrom(name, value, file.path());
    if (!entry) return tl::unexpected(entry.error());
    header.entries.emplace(name, std::move(*entry));
  }
  if (auto checked = checkRanges(header, file); !checked) return tl::unexpected(checked.error());
  return header;
}

}  // namespace vsim::traces
