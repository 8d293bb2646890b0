#include "traces/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/base/checked.h"
#include "traces/checkpoint_input.h"
#include "traces/checkpoint_names.h"

namespace vsim::traces {

using Json = nlohmann::json;

namespace {

/// Corners that the search for overlaps sorts, 32 bytes each.
constexpr std::size_t kMostCorners = std::size_t{1} << 26;
/// Files are read in pages: closer runs cost no more when they are read together.
constexpr std::int64_t kPageBytes = 4096;
constexpr std::int64_t kPieceBytes = 1 << 20;

bool inside(const core::TensorBlock& block, std::span<const std::int64_t> shape) {
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (block.size[d] < 1 || block.offset[d] > shape[d] || block.size[d] > shape[d] - block.offset[d])
      return false;
  return true;
}

core::Result<void> readRuns(const InputFile& file, std::int64_t begin, std::int64_t elementBytes,
                            const core::CopyRuns& copy, std::span<std::byte> target) {
  const std::int64_t run = copy.elements * elementBytes, stride = copy.fromStride * elementBytes;
  const auto place = [&](std::int64_t i) {
    return target.subspan(static_cast<std::size_t>((copy.toOffset + i * copy.toStride) * elementBytes),
                          static_cast<std::size_t>(run));
  };
  begin += copy.fromOffset * elementBytes;
  const std::int64_t together = copy.runs > 1 && stride <= kPageBytes ? kPieceBytes / stride : 1;
  std::vector<std::byte> piece;
  for (std::int64_t first = 0; first < copy.runs; first += together) {
    const std::int64_t count = std::min(together, copy.runs - first);
    if (count == 1) {
      if (auto read = file.read(begin + first * stride, place(first)); !read) return read;
      continue;
    }
    piece.resize(static_cast<std::size_t>((count - 1) * stride + run));
    if (auto read = file.read(begin + first * stride, piece); !read) return read;
    for (std::int64_t i = 0; i < count; ++i)
      std::memcpy(place(first + i).data(), piece.data() + i * stride, static_cast<std::size_t>(run));
  }
  return {};
}

}  // namespace

/// Turns the text of an index into a Checkpoint, believing nothing.
class CheckpointIndexReader {
 public:
  explicit CheckpointIndexReader(std::string path) : path_(std::move(path)) {}

  core::Result<Checkpoint> read(const std::string& folder) {
    const auto input = InputFile::open(path_);
    if (!input) return tl::unexpected(input.error());
    if (input->size() > kLargestCheckpointIndex)
      return fail(
          fmt::format("an index of {} bytes, {} are allowed", input->size(), kLargestCheckpointIndex));
    std::string text(static_cast<std::size_t>(input->size()), '\0');
    if (auto done = input->read(0, std::as_writable_bytes(std::span(text))); !done)
      return tl::unexpected(done.error());
    const auto json = parseStrictJson(text, path_);
    if (!json) return tl::unexpected(json.error());
    checkpoint_.folder_ = folder;
    for (auto part : {&CheckpointIndexReader::readHead, &CheckpointIndexReader::readFiles,
                      &CheckpointIndexReader::readTensors})
      if (auto done = (this->*part)(*json); !done) return tl::unexpected(done.error());
    return std::move(checkpoint_);
  }

 private:
  [[nodiscard]] tl::unexpected<core::Error> fail(std::string message) const {
    return fileFailure(path_, std::move(message));
  }
  [[nodiscard]] tl::unexpected<core::Error> failTensor(const std::string& name,
                                                       const std::string& what) const {
    return fail(fmt::format("tensor '{}': {}", name, what));
  }
  static const Json& member(const Json& json, const char* name) {
    static const Json none;
    const auto found = json.is_object() ? json.find(name) : json.end();
    return found == json.end() ? none : *found;
  }

  core::Result<void> readHead(const Json& json) {
    if (member(json, "format") != "vsim-checkpoint") return fail("not the index of a checkpoint");
    const auto version = sizeFrom(member(json, "version"));
    if (!version) return fail("a checkpoint without a version");
    if (*version != kCheckpointVersion)
      return fail(fmt::format("version {} of the checkpoint format, this program reads {}", *version,
                              kCheckpointVersion));
    if (!member(json, "label").is_string()) return fail("a checkpoint without a label");
    checkpoint_.label_ = json["label"].get<std::string>();
    return {};
  }

  core::Result<void> readFiles(const Json& json) {
    const Json& files = member(json, "files");
    if (!files.is_array() || files.empty()) return fail("a checkpoint without files");
    std::set<std::string> seen;
    for (const Json& file : files) {
      if (!file.is_string() || !isPlainFileName(file.get<std::string>()))
        return fail(fmt::format("file name {} does not name a file of the checkpoint's folder",
                                file.dump(-1, ' ', true, Json::error_handler_t::replace)));
      if (!seen.insert(file.get<std::string>()).second)
        return fail(fmt::format("file '{}' twice", file.get<std::string>()));
      checkpoint_.files_.push_back(file.get<std::string>());
    }
    return {};
  }

  core::Result<void> readTensors(const Json& json) {
    const Json& tensors = member(json, "tensors");
    if (!tensors.is_object()) return fail("a checkpoint without tensors");
    for (const auto& [name, value] : tensors.items()) {
      if (auto named = checkTensorName(name); !named) return fail(named.error().message);
      auto tensor = tensorFrom(name, value);
      if (!tensor) return tl::unexpected(tensor.error());
      checkpoint_.tensors_.emplace(name, std::move(*tensor));
    }
    return {};
  }

  core::Result<Checkpoint::Tensor> tensorFrom(const std::string& name, const Json& json) {
    Checkpoint::Tensor tensor;
    const Json& dtype = member(json, "dtype");
    const auto known = dtype.is_string() ? dtypeFromSafetensors(dtype.get<std::string>()) : std::nullopt;
    if (!known) return failTensor(name, "unknown dtype");
    tensor.dtype = *known;
    auto shape = sizesFrom(member(json, "shape"));
    if (!shape) return failTensor(name, "a shape that is no list of sizes");
    if (shape->size() > core::kMostTiledDims)
      return failTensor(name, fmt::format("more than {} dimensions", core::kMostTiledDims));
    auto bytes = std::optional(core::bytesOf(tensor.dtype));
    for (const std::int64_t size : *shape)
      if (bytes) bytes = core::checkedMultiply(*bytes, size);
    if (!bytes) return failTensor(name, "more than 2^63 bytes");
    tensor.shape = std::move(*shape);
    const Json& boxes = member(json, "boxes");
    if (!boxes.is_array()) return failTensor(name, "no list of boxes");
    if (boxes.size() > kMostCorners >> tensor.shape.size()) return failTensor(name, "too many boxes");
    std::vector<core::TensorBlock> blocks;
    for (const Json& box : boxes) {
      auto part = partFrom(name, tensor, box);
      if (!part) return tl::unexpected(part.error());
      blocks.push_back(part->block);
      tensor.parts.push_back(std::move(*part));
    }
    if (!core::tile(tensor.shape, blocks))
      return failTensor(name, "boxes overlap or do not cover the tensor");
    return tensor;
  }

  core::Result<Checkpoint::Part> partFrom(const std::string& name, const Checkpoint::Tensor& tensor,
                                          const Json& json) {
    auto offset = sizesFrom(member(json, "offset")), size = sizesFrom(member(json, "size"));
    if (!offset || !size) return failTensor(name, "a box whose offset or size is no list of sizes");
    Checkpoint::Part part{.block = {std::move(*offset), std::move(*size)}, .entry = {}};
    const std::size_t dims = tensor.shape.size();
    if (part.block.offset.size() != dims || part.block.size.size() != dims ||
        !inside(part.block, tensor.shape))
      return failTensor(name, "a box that is empty or outside the tensor");
    const auto file = sizeFrom(member(json, "file"));
    if (!file || *file >= checkpoint_.ranks()) return failTensor(name, "a box in an unknown file");
    part.file = static_cast<std::size_t>(*file);
    const Json& entry = member(json, "entry");
    if (!entry.is_string()) return failTensor(name, "a box without an entry");
    part.entry = entry.get<std::string>();
    if (!entries_.emplace(part.file, part.entry).second)
      return failTensor(name, fmt::format("entry '{}' of file '{}' serves two boxes", part.entry,
                                          checkpoint_.files_[part.file]));
    return part;
  }

  std::string path_;
  Checkpoint checkpoint_;
  std::set<std::pair<std::size_t, std::string>> entries_;
};

core::Result<Checkpoint> Checkpoint::open(const std::string& folder) {
  return CheckpointIndexReader((std::filesystem::path(folder) / kCheckpointIndexFile).string()).read(folder);
}

std::string Checkpoint::pathOf(std::size_t file) const {
  return (std::filesystem::path(folder_) / files_[file]).string();
}

core::Result<const SafetensorsHeader*> Checkpoint::headerOf(std::size_t file, const InputFile& input) {
  const auto known = headers_.find(file);
  if (known != headers_.end()) return &known->second;
  auto header = readSafetensorsHeader(input);
  if (!header) return tl::unexpected(header.error());
  if (header->metadata != rankMetadata(label_, static_cast<std::int64_t>(file), ranks()))
    return fileFailure(input.path(), fmt::format("does not belong to checkpoint '{}' of {} ranks as rank {}",
                                                 label_, ranks(), file));
  return &headers_.emplace(file, std::move(*header)).first->second;
}

// Where the data of a part begin in its file, once file, header and entry are found to be what the index
// says.
core::Result<std::int64_t> Checkpoint::dataPosition(const Tensor& tensor, const Part& part) {
  const auto input = InputFile::open(pathOf(part.file));
  if (!input) return tl::unexpected(input.error());
  const auto header = headerOf(part.file, *input);
  if (!header) return tl::unexpected(header.error());
  const auto found = (*header)->entries.find(part.entry);
  if (found == (*header)->entries.end())
    return fileFailure(input->path(), fmt::format("no entry '{}', which the index lists", part.entry));
  const SafetensorsEntry& entry = found->second;
  if (entry.dtype != tensor.dtype)
    return fileFailure(input->path(),
                       fmt::format("entry '{}' is {}, the index says {}", part.entry,
                                   safetensorsName(entry.dtype), safetensorsName(tensor.dtype)));
  if (entry.shape != part.block.size)
    return fileFailure(input->path(),
                       fmt::format("entry '{}' has shape ({}), the index says ({})", part.entry,
                                   fmt::join(entry.shape, ", "), fmt::join(part.block.size, ", ")));
  return (*header)->dataBegin + entry.begin;
}

core::Result<std::vector<std::byte>> Checkpoint::load(const CheckpointTensor& wanted, std::int64_t rank) {
  const auto wrong = [&](const std::string& what) {
    return fileFailure((std::filesystem::path(folder_) / kCheckpointIndexFile).string(),
                       fmt::format("tensor '{}': {}", wanted.name, what));
  };
  const auto found = tensors_.find(wanted.name);
  if (found == tensors_.end()) return wrong("not in this checkpoint");
  const Tensor& tensor = found->second;
  if (tensor.dtype != wanted.dtype)
    return wrong(
        fmt::format("saved as {}, wanted as {}", core::name(tensor.dtype), core::name(wanted.dtype)));
  if (tensor.shape != wanted.sharding.shape())
    return wrong(fmt::format("saved with shape ({}), wanted with ({})", fmt::join(tensor.shape, ", "),
                             fmt::join(wanted.sharding.shape(), ", ")));
  if (rank < 0 || rank >= wanted.sharding.mesh().ranks())
    return wrong(fmt::format("rank {} of {}", rank, wanted.sharding.mesh().ranks()));
  for (const core::Placement& placement : wanted.sharding.placements())
    if (std::holds_alternative<core::Partial>(placement)) return wrong("cannot be loaded as summands");
  struct Source {
    std::size_t file = 0;
    std::int64_t begin = 0;
    std::vector<core::CopyRuns> copies;
  };
  // All sources are looked at before memory is taken: an index may promise more than there is.
  std::vector<Source> sources;
  const auto held = core::heldBlocks(wanted.sharding, rank);
  for (const Part& part : tensor.parts) {
    Source source{.file = part.file, .copies = {}};
    for (const core::HeldBlock& one : held)
      for (const core::CopyRuns& copy : core::commonRuns({.block = part.block, .begin = 0}, one))
        source.copies.push_back(copy);
    if (source.copies.empty()) continue;
    const auto begin = dataPosition(tensor, part);
    if (!begin) return tl::unexpected(begin.error());
    source.begin = *begin;
    sources.push_back(std::move(source));
  }
  const std::int64_t elementBytes = core::bytesOf(wanted.dtype);
  std::vector<std::byte> local(
      static_cast<std::size_t>(wanted.sharding.localInterval(rank).size() * elementBytes));
  for (const Source& source : sources) {
    const auto input = InputFile::open(pathOf(source.file));
    if (!input) return tl::unexpected(input.error());
    for (const core::CopyRuns& copy : source.copies) {
      if (auto read = readRuns(*input, source.begin, elementBytes, copy, local); !read)
        return tl::unexpected(read.error());
      bytesLoaded_ += copy.total() * elementBytes;
    }
  }
  return local;
}

}  // namespace vsim::traces
