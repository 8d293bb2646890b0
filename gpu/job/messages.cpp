#include "gpu/job/messages.h"

#include <limits>

#include "gpu/job/frames.h"

namespace vsim::gpu {
namespace {

/// A number that came as 64 bits, where an int is meant.
std::optional<int> asInt(std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) return std::nullopt;
  return static_cast<int>(value);
}

}  // namespace

std::string nameOf(int process, const std::string& host) {
  return fmt::format("rank {} on {}", process, host);
}

std::string nameOf(int process, const Peer& peer) {
  return fmt::format("rank {} on {} (process {})", process, peer.host, peer.pid);
}

std::string reportOf(int process, const std::string& host, const std::string& message) {
  const std::string name = nameOf(process, host);
  return message.starts_with(name) ? message : fmt::format("{}: {}", name, message);
}

std::string namesOf(const std::vector<int>& processes) {
  constexpr std::size_t kShown = 8;
  const std::size_t shown = processes.size() > kShown + 1 ? kShown : processes.size();
  std::string result = processes.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) result += i + 1 == processes.size() ? " and " : ", ";
    result += std::to_string(processes[i]);
  }
  if (shown < processes.size()) result += fmt::format(" and {} more", processes.size() - shown);
  return result;
}

std::string encode(const Hello& hello) {
  PayloadWriter writer;
  writer.text(hello.jobName).text(hello.version).number(static_cast<std::uint64_t>(hello.process));
  writer.number(static_cast<std::uint64_t>(hello.processes)).text(hello.peer.host);
  writer.number(static_cast<std::uint64_t>(hello.peer.pid));
  return writer.take();
}

std::optional<Hello> decodeHello(std::string_view payload) {
  PayloadReader reader(payload);
  Hello hello;
  hello.jobName = reader.text();
  hello.version = reader.text();
  const std::optional<int> process = asInt(reader.number());
  const std::optional<int> processes = asInt(reader.number());
  hello.peer.host = reader.text();
  hello.peer.pid = static_cast<std::int64_t>(reader.number());
  if (!reader.complete() || !process || !processes) return std::nullopt;
  hello.process = *process;
  hello.processes = *processes;
  return hello;
}

std::string encode(const std::vector<Peer>& peers) {
  PayloadWriter writer;
  writer.number(peers.size());
  for (const Peer& peer : peers) writer.text(peer.host).number(static_cast<std::uint64_t>(peer.pid));
  return writer.take();
}

std::optional<std::vector<Peer>> decodePeers(std::string_view payload) {
  PayloadReader reader(payload);
  std::vector<Peer> peers;
  for (std::uint64_t left = reader.count(); left > 0 && reader.ok(); --left) {
    Peer& peer = peers.emplace_back();
    peer.host = reader.text();
    peer.pid = static_cast<std::int64_t>(reader.number());
  }
  if (!reader.complete()) return std::nullopt;
  return peers;
}

std::string encode(const Failure& failure) {
  const core::Error& error = failure.error;
  PayloadWriter writer;
  writer.number(static_cast<std::uint64_t>(failure.process)).text(error.message).text(error.file);
  writer.number(static_cast<std::uint64_t>(error.line)).number(static_cast<std::uint64_t>(error.column));
  writer.text(error.hint);
  return writer.take();
}

std::optional<Failure> decodeFailure(std::string_view payload) {
  PayloadReader reader(payload);
  Failure failure;
  const std::optional<int> process = asInt(reader.number());
  failure.error.message = reader.text();
  failure.error.file = reader.text();
  const std::optional<int> line = asInt(reader.number());
  const std::optional<int> column = asInt(reader.number());
  failure.error.hint = reader.text();
  if (!reader.complete() || !process || !line || !column) return std::nullopt;
  failure.process = *process;
  failure.error.line = *line;
  failure.error.column = *column;
  return failure;
}

std::string encode(const std::vector<std::string>& texts) {
  PayloadWriter writer;
  writer.number(texts.size());
  for (const std::string& text : texts) writer.text(text);
  return writer.take();
}

std::optional<std::vector<std::string>> decodeTexts(std::string_view payload) {
  PayloadReader reader(payload);
  std::vector<std::string> texts;
  for (std::uint64_t left = reader.count(); left > 0 && reader.ok(); --left) texts.push_back(reader.text());
  if (!reader.complete()) return std::nullopt;
  return texts;
}

}  // namespace vsim::gpu
