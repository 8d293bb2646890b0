#include "gpu/mpi/exchange.h"

#include <algorithm>

namespace vsim::gpu {

namespace {

constexpr int kTag = 1;
constexpr std::size_t kLongest = std::size_t{1} << 30U;  // counts of MPI are 32-bit

}  // namespace

std::string mpiProblem(int code) {
  if (code == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return "MPI error " + std::to_string(code);
  return {text, static_cast<std::size_t>(length)};
}

void Exchange::check(int code) {
  if (code == MPI_SUCCESS) return;
  failed_ = true;
  control_.fail({.message = "MPI failed: " + mpiProblem(code)});
}

void Exchange::receive(int peer, void* to, std::size_t bytes) {
  auto* at = static_cast<std::byte*>(to);
  for (std::size_t left = bytes; left > 0 && !failed_;) {
    const std::size_t piece = std::min(left, kLongest);
    sources_.push_back(peer);
    requests_.push_back(MPI_REQUEST_NULL);
    check(MPI_Irecv(at, static_cast<int>(piece), MPI_BYTE, peer, kTag, communicator_, &requests_.back()));
    at += piece;
    left -= piece;
  }
  bytes_ += bytes;
}

void Exchange::send(int peer, const void* from, std::size_t bytes) {
  const auto* at = static_cast<const std::byte*>(from);
  for (std::size_t left = bytes; left > 0 && !failed_;) {
    const std::size_t piece = std::min(left, kLongest);
    sources_.push_back(-1);
    requests_.push_back(MPI_REQUEST_NULL);
    check(MPI_Isend(at, static_cast<int>(piece), MPI_BYTE, peer, kTag, communicator_, &requests_.back()));
    at += piece;
    left -= piece;
  }
  bytes_ += bytes;
}

bool Exchange::look(const std::function<void(int peer)>& came) {
  int count = 0;
  check(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, done_.data(),
                     MPI_STATUSES_IGNORE));
  if (failed_ || count == MPI_UNDEFINED || count == 0) return false;
  for (int i = 0; i < count; ++i)
    if (const int peer = sources_[static_cast<std::size_t>(done_[static_cast<std::size_t>(i)])];
        peer >= 0 && came)
      came(peer);
  left_ -= static_cast<std::size_t>(count);
  control_.progressed();
  return true;
}

bool Exchange::finish(Patience::Waiting what, const std::function<void(int peer)>& came) {
  left_ = requests_.size();
  done_.resize(requests_.size());
  Patience patience(what, bytes_);
  while (!failed_) {
    const bool moved = left_ > 0 && look(came);
    if (left_ == 0) break;
    if (control_.stopped()) return false;
    if (moved)
      patience.restart();
    else
      patience.pass();
  }
  requests_.clear();
  sources_.clear();
  bytes_ = 0;
  return !failed_;
}

}  // namespace vsim::gpu
