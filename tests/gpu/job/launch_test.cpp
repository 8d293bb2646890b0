#include "gpu/job/launch.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "gpu/job/slurm_lists.h"

using namespace vsim;
using Catch::Matchers::Contains;

namespace {

using Environment = std::map<std::string, std::string>;

core::Result<gpu::LaunchEnvironment> launchOf(const Environment& environment) {
  return gpu::launchEnvironment([&](const char* name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  });
}

Environment with(Environment environment, const Environment& more) {
  for (const auto& [name, value] : more) environment[name] = value;
  return environment;
}

Environment without(Environment environment, const std::string& name) {
  environment.erase(name);
  return environment;
}

const Environment kTorchrun{{"RANK", "5"},         {"WORLD_SIZE", "8"},
                            {"LOCAL_RANK", "1"},   {"LOCAL_WORLD_SIZE", "4"},
                            {"MASTER_ADDR", "n0"}, {"MASTER_PORT", "29500"}};
const Environment kOpenMpi{{"OMPI_COMM_WORLD_RANK", "1"},
                           {"OMPI_COMM_WORLD_SIZE", "8"},
                           {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "8"},
                           {"PMIX_NAMESPACE", "1234@5"}};
const Environment kPmi{
    {"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};
const Environment kSlurm{{"SLURM_PROCID", "5"},
                         {"SLURM_NTASKS", "7"},
                         {"SLURM_LOCALID", "1"},
                         {"SLURM_NODEID", "2"},
                         {"SLURM_STEP_ID", "0"},
                         {"SLURM_JOB_ID", "77"},
                         {"SLURM_TASKS_PER_NODE", "2(x3),1"},
                         {"SLURM_JOB_NODELIST", "node[01-04,7]"}};

}  // namespace

TEST_CASE("launch: nothing set is one process") {
  const auto launch = launchOf({});
  REQUIRE(launch);
  CHECK(launch->launcher == "none");
  CHECK(launch->process == 0);
  CHECK(launch->processes == 1);
  CHECK(launch->localProcesses == 1);
  // A port that somebody left in the environment starts nothing.
  REQUIRE(launchOf({{"MASTER_PORT", "29500"}, {"MASTER_ADDR", "x"}}));
  CHECK(launchOf({{"RANK", ""}, {"WORLD_SIZE", ""}})->launcher == "none");
}

TEST_CASE("launch: torchrun's environment") {
  const auto launch = launchOf(kTorchrun);
  REQUIRE(launch);
  CHECK(launch->launcher == "torchrun");
  CHECK(launch->process == 5);
  CHECK(launch->processes == 8);
  CHECK(launch->localProcess == 1);
  CHECK(launch->localProcesses == 4);
  CHECK(launch->leaderAddress == "n0");
  CHECK(launch->leaderPort == 29500);
  CHECK_FALSE(launch->portDerived);
  CHECK(launch->jobName == "port 29500");
  // It wins over what the launchers around it set.
  CHECK(launchOf(with(with(kOpenMpi, kSlurm), kTorchrun))->process == 5);
}

TEST_CASE("launch: torchrun's own store keeps MASTER_PORT, so the job takes one beside it") {
  const auto launch = launchOf(with(kTorchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                                {"TORCHELASTIC_RUN_ID", "run7"},
                                                {"TORCHELASTIC_RESTART_COUNT", "2"}}));
  REQUIRE(launch);
  CHECK(launch->leaderPort == 29501);
  CHECK(launch->portDerived);
  CHECK(launch->jobName == "torchrun run7.2 port 29500");
  const auto last =
      launchOf(with(kTorchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "True"}, {"MASTER_PORT", "65535"}}));
  REQUIRE(last);
  CHECK(last->leaderPort < 65535);
  CHECK(launchOf(with(kTorchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "False"}}))->leaderPort == 29500);
}

TEST_CASE("launch: without local numbers, loopback means that all are here") {
  Environment plain = without(without(kTorchrun, "LOCAL_RANK"), "LOCAL_WORLD_SIZE");
  CHECK(launchOf(plain)->localProcesses == 1);
  CHECK(launchOf(plain)->localProcess == 0);
  plain["MASTER_ADDR"] = "127.0.0.1";
  CHECK(launchOf(plain)->localProcesses == 8);
  CHECK(launchOf(plain)->localProcess == 5);
}

TEST_CASE("launch: Open MPI's environment, with and without MASTER_ADDR and MASTER_PORT") {
  const auto launch = launchOf(kOpenMpi);
  REQUIRE(launch);
  CHECK(launch->launcher == "Open MPI");
  CHECK(launch->process == 1);
  CHECK(launch->localProcesses == 8);
  CHECK(launch->leaderAddress == "127.0.0.1");
  CHECK(launch->portDerived);
  CHECK(launch->leaderPort == gpu::derivedPort(launch->jobName));
  CHECK(launchOf(with(kOpenMpi, {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}}))
            ->leaderPort == launch->leaderPort);
  CHECK(launchOf(with(kOpenMpi, {{"PMIX_NAMESPACE", "1234@6"}}))->jobName != launch->jobName);
  const auto chosen = launchOf(with(kOpenMpi, {{"MASTER_ADDR", "h"}, {"MASTER_PORT", "1"}}));
  REQUIRE(chosen);
  CHECK(chosen->leaderAddress == "h");
  CHECK(chosen->leaderPort == 1);
  CHECK_FALSE(chosen->portDerived);
}

TEST_CASE("launch: PMI's environment") {
  const auto launch = launchOf(with(kPmi, {{"MASTER_ADDR", "h"}, {"MASTER_PORT", "3000"}}));
  REQUIRE(launch);
  CHECK(launch->launcher == "PMI");
  CHECK(launch->process == 3);
  CHECK(launch->processes == 4);
  CHECK(launch->localProcess == 1);
  CHECK(launch->localProcesses == 2);
  // srun speaking PMI itself has the better information; a launcher that starts its daemons by srun has not.
  const auto same = launchOf(with(kSlurm, {{"PMI_RANK", "5"}, {"PMI_SIZE", "7"}}));
  REQUIRE(same);
  CHECK(same->launcher == "srun");
  const auto daemons = launchOf(with(kSlurm, with(kPmi, {{"MASTER_ADDR", "h"}})));
  REQUIRE(daemons);
  CHECK(daemons->launcher == "PMI");
  CHECK(daemons->process == 3);
}

TEST_CASE("launch: a Slurm step's environment") {
  const auto launch = launchOf(kSlurm);
  REQUIRE(launch);
  CHECK(launch->launcher == "srun");
  CHECK(launch->process == 5);
  CHECK(launch->processes == 7);
  CHECK(launch->localProcess == 1);
  CHECK(launch->localProcesses == 2);
  CHECK(launch->leaderAddress == "node01");
  CHECK(launch->jobName == "Slurm 77.0");
  CHECK(launch->portDerived);
  // The step's own lists win over the allocation's.
  const auto step = launchOf(with(kSlurm, {{"SLURM_STEP_NUM_TASKS", "6"},
                                           {"SLURM_STEP_TASKS_PER_NODE", "2(x3)"},
                                           {"SLURM_STEP_NODELIST", "b7,b9"}}));
  REQUIRE(step);
  CHECK(step->processes == 6);
  CHECK(step->leaderAddress == "b7");
}

TEST_CASE("launch: a Slurm batch script's shell or interactive shell is one process") {
  const auto batch =
      launchOf(without(with(kSlurm, {{"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}}), "SLURM_STEP_ID"));
  REQUIRE(batch);
  CHECK(batch->launcher == "none");
  CHECK(batch->processes == 1);
  CHECK(launchOf(with(kSlurm, {{"SLURM_STEP_ID", "4294967290"}}))->processes == 1);
}

TEST_CASE("launch: what is malformed, contradictory or missing is named with its value") {
  struct Case {
    Environment environment;
    std::string says, also;
  };
  const Environment remote = with(kOpenMpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}});
  const std::vector<Case> cases{
      {with(kTorchrun, {{"RANK", "x"}}), "RANK is 'x'", "whole number"},
      {with(kTorchrun, {{"RANK", "-1"}}), "RANK is '-1'", "at least 0"},
      {with(kTorchrun, {{"RANK", "1.5"}}), "RANK is '1.5'", "whole number"},
      {with(kTorchrun, {{"RANK", " 1"}}), "RANK is ' 1'", "whole number"},
      {with(kTorchrun, {{"RANK", "8"}}), "RANK is 8", "below WORLD_SIZE, which is 8"},
      {with(kTorchrun, {{"WORLD_SIZE", "0"}}), "WORLD_SIZE is '0'", "at least 1"},
      {with(kTorchrun, {{"WORLD_SIZE", "99999999999"}}), "WORLD_SIZE is '99999999999'", "whole number"},
      {without(kTorchrun, "WORLD_SIZE"), "RANK is 5", "WORLD_SIZE is not set"},
      {without(kTorchrun, "RANK"), "WORLD_SIZE is 8", "RANK is not set"},
      {with(kTorchrun, {{"LOCAL_RANK", "4"}}), "LOCAL_RANK is 4", "below LOCAL_WORLD_SIZE, which is 4"},
      {with(kTorchrun, {{"LOCAL_WORLD_SIZE", "9"}}), "LOCAL_WORLD_SIZE is 9", "more than WORLD_SIZE, 8"},
      {without(kTorchrun, "LOCAL_WORLD_SIZE"), "LOCAL_RANK is 1", "LOCAL_WORLD_SIZE is not set"},
      {without(kTorchrun, "LOCAL_RANK"), "LOCAL_WORLD_SIZE is 4", "LOCAL_RANK is not set"},
      {without(kTorchrun, "MASTER_ADDR"), "8 processes, of which 4 run here", "MASTER_ADDR is not set"},
      {without(kTorchrun, "MASTER_PORT"), "torchrun", "MASTER_PORT is not set"},
      {with(kTorchrun, {{"MASTER_PORT", "0"}}), "MASTER_PORT is '0'", "from 1 to 65535"},
      {with(kTorchrun, {{"MASTER_PORT", "65536"}}), "MASTER_PORT is '65536'", "from 1 to 65535"},
      {with(kTorchrun, {{"MASTER_PORT", "29500x"}}), "MASTER_PORT is '29500x'", "whole number"},
      {with(kOpenMpi, {{"OMPI_COMM_WORLD_RANK", "8"}}), "OMPI_COMM_WORLD_RANK is 8", "OMPI_COMM_WORLD_SIZE"},
      {remote, "8 processes, of which 4 run here", "MASTER_ADDR is not set"},
      {without(kOpenMpi, "PMIX_NAMESPACE"), "Open MPI gives this job no name", "MASTER_PORT is not set"},
      {with(kPmi, {{"PMI_SIZE", "two"}}), "PMI_SIZE is 'two'", "whole number"},
      {without(kSlurm, "SLURM_LOCALID"), "Slurm step of 7 tasks", "SLURM_LOCALID is not set"},
      {without(kSlurm, "SLURM_NTASKS"), "SLURM_PROCID is 5", "SLURM_NTASKS is not set"},
      {with(kSlurm, {{"SLURM_PROCID", "7"}}), "SLURM_PROCID is 7", "below SLURM_NTASKS, which is 7"},
      {with(kSlurm, {{"SLURM_TASKS_PER_NODE", "2(x3"}}), "SLURM_TASKS_PER_NODE: '2(x3'", "2(x3),1"},
      {with(kSlurm, {{"SLURM_TASKS_PER_NODE", "2(x2)"}}), "2 nodes", "this is node 2"},
      {with(kSlurm, {{"SLURM_LOCALID", "2"}}), "SLURM_LOCALID is 2", "SLURM_TASKS_PER_NODE"},
      {with(kSlurm, {{"SLURM_JOB_NODELIST", "node[01-"}}), "SLURM_JOB_NODELIST: the node list 'node[01-'",
       "closed"},
      {without(kSlurm, "SLURM_JOB_NODELIST"), "SLURM_JOB_NODELIST is not set", "MASTER_ADDR"},
  };
  for (const Case& each : cases) {
    INFO(each.says);
    const auto launch = launchOf(each.environment);
    REQUIRE_FALSE(launch);
    CHECK_THAT(launch.error().text(), Contains(each.says));
    CHECK_THAT(launch.error().text(), Contains(each.also));
  }
}

TEST_CASE("launch: derived ports lie in their range and differ between jobs") {
  std::set<int> ports;
  for (int job = 0; job < 100; ++job) {
    const int port = gpu::derivedPort("Slurm " + std::to_string(job) + ".0");
    CHECK(port >= 20000);
    CHECK(port < 30000);
    ports.insert(port);
  }
  CHECK(ports.size() > 90);
}

TEST_CASE("slurm lists: the first host") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"node1", "node1"},    {"node1,node2", "node1"},    {"node[01-04,7]", "node01"}, {"node[7]", "node7"},
      {"n[3,1-2],m1", "n3"}, {"r[1-2]n[08-09]", "r1n08"}, {"node[1-2]-ib", "node1-ib"}};
  for (const auto& [list, host] : cases) CHECK(gpu::firstHost(list) == host);
  for (const std::string broken :
       {"", ",a", "node[", "node[]", "node[a]", "node[1-]", "node[-2]", "node]", "n[1-2"}) {
    INFO(broken);
    const auto host = gpu::firstHost(broken);
    REQUIRE_FALSE(host);
    CHECK_THAT(host.error().message, Contains("'" + broken + "'"));
  }
}

TEST_CASE("slurm lists: tasks of a node") {
  CHECK(gpu::tasksOfNode("4", 0) == 4);
  CHECK(gpu::tasksOfNode("2(x3),1", 2) == 2);
  CHECK(gpu::tasksOfNode("2(x3),1", 3) == 1);
  CHECK(gpu::tasksOfNode("1,2,3(x2)", 3) == 3);
  for (const std::string broken : {"", "0", "-1", "x", "2(x", "2(x0)", "2(x3)1", "2,", "2(3)"})
    CHECK_FALSE(gpu::tasksOfNode(broken, 5));
}
