#include "gpu/mpi/mpi_transport.h"

#include <chrono>
#include <future>
#include <mutex>
#include <thread>

#include "gpu/mpi/exchange.h"
#include "gpu/mpi/mpi_communicator.h"
#include "gpu/mpi/termination.h"

namespace vsim::gpu {

using core::fail;
using core::Result;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

namespace {

/// Runs `call` in another thread, and gives up on it when `enough()`. False: given up.
bool bounded(std::function<void()> call, const std::function<bool()>& enough) {
  std::packaged_task<void()> task(std::move(call));
  std::future<void> done = task.get_future();
  std::thread thread(std::move(task));
  while (done.wait_for(milliseconds(1)) != std::future_status::ready)
    if (enough()) {
      thread.detach();
      return false;
    }
  thread.join();
  return true;
}

struct Creation {
  MPI_Comm made = MPI_COMM_NULL;
  int code = MPI_SUCCESS;
};

/// Collective over the members alone. Tags keep creations of different groups apart.
Creation create(const std::vector<int>& members, int tag) {
  Creation result;
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  result.code = MPI_Comm_group(MPI_COMM_WORLD, &world);
  if (result.code == MPI_SUCCESS)
    result.code = MPI_Group_incl(world, static_cast<int>(members.size()), members.data(), &group);
  if (result.code == MPI_SUCCESS)
    result.code = MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &result.made);
  if (result.code == MPI_SUCCESS) result.code = MPI_Comm_set_errhandler(result.made, MPI_ERRORS_RETURN);
  if (group != MPI_GROUP_NULL) MPI_Group_free(&group);
  if (world != MPI_GROUP_NULL) MPI_Group_free(&world);
  return result;
}

}  // namespace

Result<void> MpiTransport::init() {
  int begun = 0, provided = MPI_THREAD_SINGLE;
  MPI_Initialized(&begun);
  const int code = begun != 0 ? MPI_Query_thread(&provided)
                              : MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  if (code != MPI_SUCCESS) return fail("MPI does not start: " + mpiProblem(code));
  if (provided < MPI_THREAD_MULTIPLE)
    return fail(version() + " does not allow calls from several threads",
                "use an MPI that is built with MPI_THREAD_MULTIPLE");
  surviveTerminationForASecond();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm local = MPI_COMM_NULL;
  if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &local) ==
      MPI_SUCCESS) {
    MPI_Comm_rank(local, &localRank_);
    MPI_Comm_size(local, &localRanks_);
    MPI_Comm_free(&local);
  }
  return {};
}

std::string MpiTransport::version() const {
  char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = {};
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "MPI";
  // "Open MPI v4.1.4, package: ...": the rest is about who built it.
  const std::string all(text, static_cast<std::size_t>(length));
  return all.substr(0, all.find_first_of(",\n"));
}

Result<std::vector<std::unique_ptr<Communicator>>> MpiTransport::communicators(
    const std::vector<GroupRequest>& requests, RunControl& control, milliseconds timeout) {
  std::vector<std::unique_ptr<Communicator>> result;
  std::map<std::vector<int>, int> asked;
  for (const GroupRequest& request : requests) {
    const Key key{request.members, asked[request.members]++};
    if (!made_.contains(key)) {
      const auto creation = std::make_shared<Creation>();  // shared with a thread that may be given up
      const bool done = bounded(
          [creation, members = request.members, tag = key.second] { *creation = create(members, tag); },
          [&, end = Clock::now() + timeout] { return control.stopped() || Clock::now() > end; });
      if (!done)
        return fail(fmt::format("the communicator of group {} of ranks {} was not made in {} ms",
                                request.name, fmt::join(request.members, ", "), timeout.count()),
                    "all ranks must make the same communicators in the same order");
      if (creation->code != MPI_SUCCESS)
        return fail(fmt::format("MPI cannot make the communicator of group {}: {}", request.name,
                                mpiProblem(creation->code)));
      made_[key] = creation->made;
    }
    const MPI_Comm communicator = made_[key];
    int own = 0;
    MPI_Comm_rank(communicator, &own);
    result.push_back(std::make_unique<MpiCommunicator>(request.name, request.members, control, communicator,
                                                       static_cast<std::size_t>(own)));
  }
  return result;
}

void MpiTransport::finalize() {
  constexpr std::chrono::seconds kLongest{10};
  const auto end = Clock::now() + kLongest;
  bounded(
      [made = made_] {
        for (auto [key, communicator] : made) MPI_Comm_free(&communicator);
        MPI_Finalize();
      },
      [end] { return Clock::now() > end; });
}

}  // namespace vsim::gpu
