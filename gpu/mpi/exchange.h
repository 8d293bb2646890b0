#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "gpu/mpi/patience.h"
#include "gpu/run_control.h"

namespace vsim::gpu {

/// What an MPI call answered, in words; empty: success.
[[nodiscard]] std::string mpiProblem(int code);

/// Messages on their way to and from the members of a communicator. Everything is posted first, then awaited
/// by looking, so that a member that is gone never holds this rank. MPI's own collectives would not tell who
/// is missing. One thread.
class Exchange {
 public:
  Exchange(MPI_Comm communicator, RunControl& control) : communicator_(communicator), control_(control) {}
  /// Not-yet-finished messages are left behind: MPI cannot take sends back. Their memory must stay.
  ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Bytes from and to member `peer`; any number, in pieces that MPI's counts can hold. Between two members
  /// messages keep their order.
  void receive(int peer, void* to, std::size_t bytes);
  void send(int peer, const void* from, std::size_t bytes);

  /// `came(peer)` is called when a message from that peer is there. False: stopped, or MPI failed (which
  /// stops the execution).
  bool finish(Patience::Waiting what, const std::function<void(int peer)>& came = {});

 private:
  void check(int code);
  bool look(const std::function<void(int peer)>& came);

  MPI_Comm communicator_;
  RunControl& control_;
  std::vector<MPI_Request> requests_;
  std::vector<int> sources_;  // [request]: the peer it comes from, or -1 when it is a send
  std::vector<int> done_;     // room for MPI's answers
  std::size_t left_ = 0, bytes_ = 0;
  bool failed_ = false;
};

}  // namespace vsim::gpu
