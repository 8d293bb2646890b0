#pragma once

#include <mpi.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "gpu/host/communicator.h"
#include "gpu/mpi/exchange.h"

namespace vsim::gpu {

/// A communicator whose members are processes; this one is `own`. Members first tell each other what they are
/// about to do: then all have come, and whether their calls fit is known. Data goes straight from member to
/// member; what a member reduces it gets from all and adds in their order, so that sums are those of the
/// threads' communicator to the last bit.
class MpiCommunicator : public Communicator {
 public:
  /// `communicator`: used by nobody else meanwhile; its ranks are the members' indices.
  MpiCommunicator(std::string name, std::vector<int> members, RunControl& control, MPI_Comm communicator,
                  std::size_t own);

  bool run(std::size_t member, std::uint64_t turn, const CollectiveCall& call, core::Slice& times) override;
  [[nodiscard]] std::optional<std::string> waiting() const override;

 private:
  /// What a member is about to do, as it goes over the wire.
  struct Header {
    std::uint64_t turn = 0;
    std::int64_t sendElements = 0, receiveElements = 0;
    std::int32_t step = 0;
    std::uint32_t instruction = 0;
    std::uint8_t kind = 0, reduce = 0, dtype = 0, timed = 0;
    char name[44] = {};  // cut off where it is longer
  };

  [[nodiscard]] static Header headerOf(std::uint64_t turn, const CollectiveCall& call);
  [[nodiscard]] static CollectiveCall callOf(const Header& header);
  bool meet(std::uint64_t turn, const CollectiveCall& call);
  bool move(const CollectiveCall& call);
  bool allGather(const CollectiveCall& call);
  bool allToAll(const CollectiveCall& call);
  bool broadcast(const CollectiveCall& call);
  bool reduceScatter(const CollectiveCall& call);
  bool allReduce(const CollectiveCall& call);
  /// Part `own_` of `parts` of all inputs, reduced, to `output`; parts: begin of each, and the end.
  bool reducePart(const CollectiveCall& call, const std::vector<std::size_t>& parts, std::span<float> output);
  /// The other members, beginning behind the own one, so that not all of them turn to the same one first.
  [[nodiscard]] std::vector<std::size_t> others() const;
  bool finish(Exchange& exchange);

  MPI_Comm communicator_;
  std::size_t own_;
  std::vector<float> scratch_;  // inputs of the others, or an output that must not overwrite the input yet
  std::vector<Header> headers_;
  Header header_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t turn_ = 0;              // calls done
  std::optional<std::string> ownCall_;  // in progress
  std::vector<bool> here_;              // [member]: has come, or sent all its data
  bool moving_ = false;                 // all have come
};

}  // namespace vsim::gpu
