#include "traces/checkpoint_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <set>
#include <stdexcept>
#include <vector>

namespace vsim::traces {

core::Result<InputFile> InputFile::open(const std::string& path) {
  // Without O_NONBLOCK a pipe would block here already.
  InputFile file(path, ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (file.descriptor_ < 0 || ::fstat(file.descriptor_, &info) != 0)
    return fileFailure(path, fmt::format("cannot read: {}", std::strerror(errno)));
  if (!S_ISREG(info.st_mode)) return fileFailure(path, "cannot read: not a regular file");
  file.size_ = info.st_size;
  return file;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

core::Result<void> InputFile::read(std::int64_t offset, std::span<std::byte> target) const {
  while (!target.empty()) {
    const ssize_t count = ::pread(descriptor_, target.data(), target.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fileFailure(path_, fmt::format("cannot read: {}", std::strerror(errno)));
    if (count == 0) return fileFailure(path_, fmt::format("ends at byte {}, more was expected", offset));
    target = target.subspan(static_cast<std::size_t>(count));
    offset += count;
  }
  return {};
}

namespace {

constexpr int kDeepest = 8;

core::Error at(const std::string& text, std::size_t byte, const std::string& path, std::string message) {
  const std::size_t end = std::min(byte, text.size());
  const auto begin = text.begin();
  const auto line = std::count(begin, begin + static_cast<std::ptrdiff_t>(end), '\n');
  const std::size_t lineBegin = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  const std::size_t column = lineBegin == std::string::npos ? end : end - lineBegin - 1;
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int>::max());
  return {.message = std::move(message),
          .file = path,
          .line = static_cast<int>(line) + 1,
          .column = static_cast<int>(std::min(column, kMost - 1)) + 1};
}

}  // namespace

core::Result<nlohmann::json> parseStrictJson(const std::string& text, const std::string& path) {
  using Event = nlohmann::json::parse_event_t;
  std::vector<std::set<std::string>> keys;
  const auto check = [&](int depth, Event event, const nlohmann::json& value) {
    if (depth > kDeepest) throw std::invalid_argument("nested deeper than eight levels");
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(value.get<std::string>()).second)
      throw std::invalid_argument(fmt::format("key '{}' twice", value.get<std::string>()));
    return true;
  };
  try {
    return nlohmann::json::parse(text, check);
  } catch (const nlohmann::json::parse_error& error) {
    return tl::unexpected(at(text, error.byte == 0 ? 0 : error.byte - 1, path, "not valid JSON"));
  } catch (const nlohmann::json::exception& error) {
    return fileFailure(path, fmt::format("not valid JSON: {}", error.what()));
  } catch (const std::invalid_argument& error) {
    return fileFailure(path, error.what());
  }
}

std::optional<std::int64_t> sizeFrom(const nlohmann::json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  const auto number = value.get<std::uint64_t>();
  if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<std::vector<std::int64_t>> sizesFrom(const nlohmann::json& value) {
  if (!value.is_array()) return std::nullopt;
  std::vector<std::int64_t> sizes;
  for (const nlohmann::json& one : value) {
    const auto size = sizeFrom(one);
    if (!size) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

}  // namespace vsim::traces
