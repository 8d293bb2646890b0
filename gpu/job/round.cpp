#include "gpu/job/round.h"

#include "gpu/job/messages.h"

namespace vsim::gpu {

const char* Round::nameOf(FrameKind kind) { return kind == FrameKind::Exchange ? "exchange" : "broadcast"; }

core::Result<void> Round::add(int process, FrameKind kind, std::string text) {
  if (!begun()) {
    kind_ = kind;
    first_ = process;
  }
  if (kind != kind_)
    return core::fail(fmt::format("rank {} is at an {} while rank {} is at a {}",
                                  kind == FrameKind::Exchange ? process : first_, nameOf(FrameKind::Exchange),
                                  kind == FrameKind::Exchange ? first_ : process,
                                  nameOf(FrameKind::Broadcast)));
  std::optional<std::string>& mine = texts_[static_cast<std::size_t>(process)];
  if (mine)
    return core::fail(fmt::format("rank {} began an {} before its last one had ended", process, operation()));
  mine = std::move(text);
  ++given_;
  return {};
}

core::Result<std::shared_ptr<const std::string>> Round::take() {
  std::vector<std::string> result;
  std::size_t bytes = 0;
  for (std::optional<std::string>& text : texts_) {
    // A broadcast's result is the first text, the leader's.
    if (kind_ == FrameKind::Exchange || result.empty()) {
      bytes += text->size() + sizeof(std::uint64_t);
      result.push_back(std::move(*text));
    }
    text.reset();
  }
  given_ = 0;
  if (bytes + sizeof(std::uint64_t) > kMaximumGathered)
    return core::fail(
        fmt::format("an exchange of {} bytes, more than the {} that it may have", bytes, kMaximumGathered));
  return std::make_shared<const std::string>(encodeFrame(FrameKind::Gathered, encode(result)));
}

}  // namespace vsim::gpu
