#include <catch2/catch.hpp>

#include "core/plan/layout_rules.h"
#include "core/plan/verifier.h"
#include "tests/core/plan/sample_layers.h"

using namespace vsim::core;

namespace {

struct Sizes {
  std::int64_t shard, total;
};
struct Row {
  const char* layer;
  std::int64_t devices;
  Sizes deepspeed, fsdp1, fsdp1Unaligned, fsdp2, megatron;
};

// FSDP1 and FSDP2 agree with the library (torch 2.15); DeepSpeed and Megatron-FSDP with their published
// rules, which the libraries' records confirm.
const std::vector<Row> kRows{
    {"toy", 4, {20, 80}, {22, 88}, {20, 80}, {23, 92}, {24, 96}},
    {"llama8b",
     8,
     {27264000, 218112000},
     {27264000, 218112000},
     {27264000, 218112000},
     {27264000, 218112000},
     {27267072, 218136576}},
    {"llama8b",
     64,
     {3408000, 218112000},
     {3408000, 218112000},
     {3408000, 218112000},
     {3408000, 218112000},
     {3411968, 218365952}},
    {"llama8b",
     96,
     {2272004, 218112384},
     {2272000, 218112000},
     {2272000, 218112000},
     {2287702, 219619392},
     {2293760, 220200960}},
    {"llama8b",
     1000,
     {218119, 218119000},
     {218112, 218112000},
     {218112, 218112000},
     {251914, 251914000},
     {229376, 229376000}},
    {"llama8b",
     1024,
     {213000, 218112000},
     {213000, 218112000},
     {213000, 218112000},
     {213000, 218112000},
     {229376, 234881024}},
    {"moe",
     8,
     {75530240, 604241920},
     {75530240, 604241920},
     {75530240, 604241920},
     {75530240, 604241920},
     {78643200, 629145600}},
    {"moe",
     64,
     {9441280, 604241920},
     {9441280, 604241920},
     {9441280, 604241920},
     {9441280, 604241920},
     {12582912, 805306368}},
    {"moe",
     96,
     {6294187, 604241952},
     {6294187, 604241952},
     {6294187, 604241952},
     {9441280, 906362880},
     {9437184, 905969664}},
    {"moe",
     256,
     {2360320, 604241920},
     {2360320, 604241920},
     {2360320, 604241920},
     {4720640, 1208483840},
     {3145728, 805306368}},
    {"moe",
     1024,
     {590080, 604241920},
     {590080, 604241920},
     {590080, 604241920},
     {4720640, 4833935360},
     {3145728, 3221225472}},
    {"odd",
     8,
     {2881026, 23048208},
     {2881026, 23048208},
     {2881026, 23048208},
     {2881026, 23048208},
     {2882880, 23063040}},
    {"odd",
     48,
     {480172, 23048256},
     {480171, 23048208},
     {480171, 23048208},
     {481132, 23094336},
     {480960, 23086080}},
    {"odd",
     128,
     {180065, 23048320},
     {180065, 23048320},
     {180065, 23048320},
     {181505, 23232640},
     {181440, 23224320}},
};

}  // namespace

TEST_CASE("padding vectors: shard and total of whole layers in every system") {
  const auto layers = vsim::test::paddingLayers();
  for (const Row& row : kRows) {
    const LayoutProblem problem{.tensors = layers.at(row.layer), .devices = row.devices};
    const std::pair<const char*, Sizes> expected[] = {{"deepspeed", row.deepspeed},
                                                      {"fsdp1", row.fsdp1},
                                                      {"fsdp1-unaligned", row.fsdp1Unaligned},
                                                      {"fsdp2", row.fsdp2},
                                                      {"megatron", row.megatron}};
    for (const auto& [name, sizes] : expected) {
      INFO(row.layer << " on " << row.devices << ", " << name);
      const LayoutRule& rule = *layoutRule(name);
      const auto layout = rule.layout(problem);
      REQUIRE(layout);
      CHECK(text(verifyLayout(rule.promise(problem), *layout)) == "");
      CHECK(layout->shardElements == sizes.shard);
      CHECK(layout->totalElements() == sizes.total);
    }
  }
}

TEST_CASE("padding vectors: fsdp2's workaround for experts on more devices than there are") {
  auto tensors = vsim::test::paddingLayers().at("moe");
  for (PlanTensor& tensor : tensors) tensor.shardDim = 1;
  const LayoutProblem problem{.tensors = tensors, .devices = 256};
  const auto layout = layoutRule("fsdp2")->layout(problem);
  REQUIRE(layout);
  CHECK(layout->paddingRatio() == 0);
  CHECK(text(verifyLayout(problem, *layout)) == "");
}
