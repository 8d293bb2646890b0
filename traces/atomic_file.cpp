#include "traces/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace vsim::traces {
namespace {

tl::unexpected<core::Error> systemError(const std::string& path, int code) {
  core::Error error;
  error.message = std::string("cannot write: ") + std::strerror(code);
  error.file = path;
  return tl::unexpected<core::Error>(std::move(error));
}

/// 0, or the errno of what failed.
int writeAll(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int writeDescriptor(int descriptor, std::span<const std::string_view> pieces) {
  int problem = 0;
  for (const std::string_view piece : pieces)
    if (problem == 0) problem = writeAll(descriptor, piece);
  if (::close(descriptor) != 0 && problem == 0) problem = errno;
  return problem;
}

}  // namespace

core::Result<void> writeFileAtomically(const std::string& path, std::string_view content) {
  return writeFileAtomically(path, std::span(&content, 1));
}

core::Result<void> writeFileAtomically(const std::string& path, std::span<const std::string_view> pieces) {
  std::error_code ignored;
  std::string target = path;
  if (std::filesystem::is_symlink(path, ignored)) {
    const auto resolved = std::filesystem::weakly_canonical(path, ignored);
    if (!ignored) target = resolved.string();
  }
  struct stat existing {};
  const bool exists = ::stat(target.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) return systemError(path, EISDIR);
  if (exists && !S_ISREG(existing.st_mode)) {
    const int device = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    const int problem = device < 0 ? errno : writeDescriptor(device, pieces);
    if (problem != 0) return systemError(path, problem);
    return {};
  }
  const std::string temporary = target + ".part" + std::to_string(::getpid());
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return systemError(path, errno);
  if (exists) static_cast<void>(::fchmod(file, existing.st_mode & 07777));
  int problem = writeDescriptor(file, pieces);
  if (problem == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) problem = errno;
  if (problem != 0) {
    ::unlink(temporary.c_str());
    return systemError(path, problem);
  }
  return {};
}

}  // namespace vsim::traces
