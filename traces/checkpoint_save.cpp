#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "core/base/checked.h"
#include "traces/atomic_file.h"
#include "traces/checkpoint.h"
#include "traces/checkpoint_input.h"
#include "traces/checkpoint_names.h"

namespace vsim::traces {
namespace {

namespace fs = std::filesystem;

std::string inFolder(const std::string& folder, const std::string& name) {
  return (fs::path(folder) / name).string();
}

core::Result<std::int64_t> checkTensors(const std::string& folder,
                                        std::span<const CheckpointTensor> tensors) {
  if (tensors.empty()) return fileFailure(folder, "a checkpoint without tensors");
  const std::int64_t ranks = tensors.front().sharding.mesh().ranks();
  std::set<std::string> names;
  for (const CheckpointTensor& tensor : tensors) {
    const auto wrong = [&](const std::string& what) {
      return fileFailure(folder, fmt::format("tensor '{}': {}", tensor.name, what));
    };
    if (auto named = checkTensorName(tensor.name); !named) return fileFailure(folder, named.error().message);
    if (!names.insert(tensor.name).second) return wrong("listed twice");
    if (tensor.sharding.mesh().ranks() != ranks)
      return wrong(fmt::format("on {} ranks, others on {}", tensor.sharding.mesh().ranks(), ranks));
    if (tensor.sharding.shape().size() > core::kMostTiledDims)
      return wrong(fmt::format("more than {} dimensions", core::kMostTiledDims));
    for (const core::Placement& placement : tensor.sharding.placements())
      if (std::holds_alternative<core::Partial>(placement))
        return wrong("a Partial placement: reduce it first");
    auto bytes = std::optional(core::bytesOf(tensor.dtype));
    for (const std::int64_t size : tensor.sharding.shape())
      if (bytes) bytes = core::checkedMultiply(*bytes, size);
    if (!bytes) return wrong("more than 2^63 bytes");
  }
  return ranks;
}

// Of all ranks that hold the same, the one that is first on every replicated mesh dimension writes it.
bool writes(const core::Sharding& sharding, std::int64_t rank) {
  for (std::size_t i = 0; i < sharding.placements().size(); ++i)
    if (std::holds_alternative<core::Replicate>(sharding.placements()[i]) &&
        sharding.mesh().coordinate(rank, i) != 0)
      return false;
  return true;
}

std::vector<SafetensorsEntry> entriesOf(std::span<const CheckpointTensor> tensors, std::int64_t rank) {
  std::vector<SafetensorsEntry> entries;
  std::int64_t end = 0;
  for (const CheckpointTensor& tensor : tensors) {
    if (!writes(tensor.sharding, rank)) continue;
    for (const core::TensorBlock& box : core::checkpointBoxes(tensor.sharding, rank)) {
      const std::int64_t begin = end;
      end += box.elements() * core::bytesOf(tensor.dtype);
      entries.push_back({entryName(tensor.name, box), tensor.dtype, box.size, begin, end});
    }
  }
  return entries;
}

core::Result<void> checkNoIndex(const std::string& folder) {
  std::error_code ignored;
  if (fs::exists(inFolder(folder, kCheckpointIndexFile), ignored))
    return fileFailure(folder, "holds a checkpoint already", "save into another folder, or remove it first");
  return {};
}

core::Result<void> checkRankFile(const std::string& path, const std::string& header, std::int64_t size) {
  const auto file = InputFile::open(path);
  if (!file) return tl::unexpected(file.error());
  std::string saved(header.size(), '\0');
  if (file->size() == size)
    if (auto read = file->read(0, std::as_writable_bytes(std::span(saved))); !read) return read;
  if (file->size() != size || saved != header)
    return fileFailure(path, "not what this rank would save now", "save every rank again");
  return {};
}

}  // namespace

std::string checkpointRankFile(std::int64_t rank) { return fmt::format("rank-{:05}.safetensors", rank); }

core::Result<void> saveCheckpointRank(const std::string& folder, const std::string& label, std::int64_t rank,
                                      std::span<const CheckpointTensor> tensors,
                                      std::span<const std::span<const std::byte>> local) {
  const auto ranks = checkTensors(folder, tensors);
  if (!ranks) return tl::unexpected(ranks.error());
  if (auto none = checkNoIndex(folder); !none) return none;
  if (rank < 0 || rank >= *ranks) return fileFailure(folder, fmt::format("rank {} of {}", rank, *ranks));
  if (local.size() != tensors.size())
    return fileFailure(folder, fmt::format("{} local tensors of {}", local.size(), tensors.size()));
  std::vector<std::string_view> pieces{{}};
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const auto expected = static_cast<std::size_t>(tensors[t].sharding.localInterval(rank).size() *
                                                   core::bytesOf(tensors[t].dtype));
    if (local[t].size() != expected)
      return fileFailure(folder, fmt::format("tensor '{}': {} bytes on rank {} instead of {}",
                                             tensors[t].name, local[t].size(), rank, expected));
    // The boxes of a rank take its flat tensor from front to back.
    if (writes(tensors[t].sharding, rank))
      pieces.emplace_back(reinterpret_cast<const char*>(local[t].data()), local[t].size());
  }
  const auto header = safetensorsHeader(entriesOf(tensors, rank), rankMetadata(label, rank, *ranks));
  const std::string path = inFolder(folder, checkpointRankFile(rank));
  if (!header) return fileFailure(path, header.error().message, header.error().hint);
  pieces.front() = *header;
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) return fileFailure(folder, "cannot make the folder: " + problem.message());
  return writeFileAtomically(path, pieces);
}

core::Result<void> saveCheckpointIndex(const std::string& folder, const std::string& label,
                                       std::span<const CheckpointTensor> tensors) {
  const auto ranks = checkTensors(folder, tensors);
  if (!ranks) return tl::unexpected(ranks.error());
  if (auto none = checkNoIndex(folder); !none) return none;
  nlohmann::json files = nlohmann::json::array(), parts = nlohmann::json::object();
  for (const CheckpointTensor& tensor : tensors)
    parts[tensor.name] = {{"dtype", safetensorsName(tensor.dtype)},
                          {"shape", tensor.sharding.shape()},
                          {"boxes", nlohmann::json::array()}};
  for (std::int64_t rank = 0; rank < *ranks; ++rank) {
    const std::string path = inFolder(folder, checkpointRankFile(rank));
    const auto entries = entriesOf(tensors, rank);
    const auto header = safetensorsHeader(entries, rankMetadata(label, rank, *ranks));
    if (!header) return fileFailure(path, header.error().message, header.error().hint);
    const std::int64_t expected =
        static_cast<std::int64_t>(header->size()) + (entries.empty() ? 0 : entries.back().end);
    if (auto saved = checkRankFile(path, *header, expected); !saved) return saved;
    files.push_back(checkpointRankFile(rank));
    for (const CheckpointTensor& tensor : tensors)
      if (writes(tensor.sharding, rank))
        for (const core::TensorBlock& box : core::checkpointBoxes(tensor.sharding, rank))
          parts[tensor.name]["boxes"].push_back({{"file", rank},
                                                 {"entry", entryName(tensor.name, box)},
                                                 {"offset", box.offset},
                                                 {"size", box.size}});
  }
  const nlohmann::json index{{"format", "vsim-checkpoint"},
                             {"version", kCheckpointVersion},
                             {"label", label},
                             {"files", std::move(files)},
                             {"tensors", std::move(parts)}};
  const std::string path = inFolder(folder, kCheckpointIndexFile);
  try {
    const std::string text = index.dump() + "\n";
    if (static_cast<std::int64_t>(text.size()) > kLargestCheckpointIndex)
      return fileFailure(
          path, fmt::format("an index of {} bytes, {} are allowed", text.size(), kLargestCheckpointIndex));
    return writeFileAtomically(path, text);
  } catch (const nlohmann::json::exception&) {
    return fileFailure(path, "a label that is not UTF-8");
  }
}

}  // namespace vsim::traces
