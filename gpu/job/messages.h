#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace vsim::gpu {

/// One process of a job, as errors name it.
struct Peer {
  std::string host;
  std::int64_t pid = 0;
};

/// "rank 3 on hostB" and "rank 3 on hostB (process 4711)".
[[nodiscard]] std::string nameOf(int process, const std::string& host);
[[nodiscard]] std::string nameOf(int process, const Peer& peer);

/// "rank 2 on hostA: out of memory"; a message that begins so already stays as it is.
[[nodiscard]] std::string reportOf(int process, const std::string& host, const std::string& message);

/// "rank 2", "ranks 2, 5 and 7", "ranks 1, 2, 3, 4 and 12 more".
[[nodiscard]] std::string namesOf(const std::vector<int>& processes);

/// What a process says of itself when it joins.
struct Hello {
  std::string jobName, version;
  int process = 0, processes = 1;
  Peer peer;
};

/// The failure of a job, and the process that it happened in.
struct Failure {
  int process = 0;
  core::Error error;
};

// As payloads of frames. decode...: nothing when the payload is not one.
[[nodiscard]] std::string encode(const Hello& hello);
[[nodiscard]] std::optional<Hello> decodeHello(std::string_view payload);
[[nodiscard]] std::string encode(const std::vector<Peer>& peers);
[[nodiscard]] std::optional<std::vector<Peer>> decodePeers(std::string_view payload);
[[nodiscard]] std::string encode(const Failure& failure);
[[nodiscard]] std::optional<Failure> decodeFailure(std::string_view payload);
[[nodiscard]] std::string encode(const std::vector<std::string>& texts);
[[nodiscard]] std::optional<std::vector<std::string>> decodeTexts(std::string_view payload);

}  // namespace vsim::gpu
