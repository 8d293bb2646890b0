// Sums and temporaries of modules against a recorded training step (validation/pytorch/fsdp2_memory.md).
#include <catch2/catch.hpp>

#include <iostream>
#include <string>

#include "core/base/checked.h"
#include "core/model/costs.h"
#include "tests/core/model/recorded_models.h"
#include "tests/support/reference.h"

namespace {

using namespace vsim::core;
using vsim::test::CsvRow;

ModuleCosts costsOf(const ModelConfig& config, ModuleKind kind, const WorkShape& work) {
  auto result = moduleCosts(config, kind, 0, work);
  REQUIRE(result.has_value());
  return std::move(*result);
}

Bytes bytesIn(const CsvRow& row, const std::string& column) { return std::stoll(row.at(column)); }

}  // namespace

TEST_CASE("Modules keep and need what a recorded step kept and needed") {
  const auto text = vsim::test::referenceText("pytorch/fsdp2_memory.csv");
  if (!text) return;
  int blocks = 0, forwards = 0;
  for (const CsvRow& row : vsim::test::parseCsv(*text)) {
    const std::string& model = row.at("model");
    const auto config = vsim::test::describedModel(model);
    if (!config) {
      std::cout << "no description of " << model << ": row left out\n";
      continue;
    }
    INFO(row.at("case"));
    WorkShape work;
    work.microBatch = bytesIn(row, "micro_batch");
    work.sequence = bytesIn(row, "seq_len");
    const bool full = row.at("activation_checkpointing") == "full";
    if (full) work.checkpointing = Checkpointing::full;
    const ModuleCosts embedding = costsOf(*config, ModuleKind::embedding, work);
    const ModuleCosts layer = costsOf(*config, ModuleKind::layer, work);
    const ModuleCosts norm = costsOf(*config, ModuleKind::finalNorm, work);
    const ModuleCosts head = costsOf(*config, ModuleKind::head, work);
    CHECK(layer.keepsInput());
    CHECK(norm.keepsInput());
    CHECK(head.keepsInput());

    const Bytes perLayer = layer.savedBytes() + layer.outputBytes;
    const Bytes depth = vsim::test::depth(model);
    CHECK(perLayer == bytesIn(row, "act_layer_middle_bytes"));
    CHECK(depth * perLayer == bytesIn(row, "act_all_layers_bytes"));
    const Bytes kept = embedding.savedBytes() + embedding.outputBytes + depth * perLayer + norm.savedBytes() +
                       norm.outputBytes + head.savedBytes() + roundUp(head.outputBytes, 512);
    const bool logits = row.at("keep_logits") == "1";
    CHECK(kept + (logits ? head.logitsBytes : 0) == bytesIn(row, "step2_after_forward_activation_bytes"));

    // The gradients of log-likelihood and log-softmax beside the kept log-probabilities.
    const std::string loss = "step2_phase_backward_loss_peak_total_bytes";
    CHECK(bytesIn(row, loss) == bytesIn(row, "step2_after_forward_total_bytes") + head.backwardTransient);
    // The loss phase adds logits, their fp32 copy and the log-probabilities to what forward left.
    const std::string lossForward = "step2_phase_loss_peak_total_bytes";
    CHECK(bytesIn(row, lossForward) == bytesIn(row, "step2_after_forward_total_bytes") +
                                           head.forwardTransient - (logits ? head.logitsBytes : 0));

    const std::string blocksOp = row.at("step2_phase_backward_blocks_peak_op");
    if (blocksOp == "aten.mul.Tensor" || blocksOp == "aten.sum.dim_IntList") {
      const Bytes temporaries = bytesIn(row, "step2_phase_backward_blocks_peak_temp_bytes");
      // The sums of the scores' gradients (2 bytes per routed row) come an instant after the peak product.
      const Bytes sums = blocksOp == "aten.mul.Tensor" && config->experts > 0
                             ? 2 * work.microBatch * work.sequence * config->expertsPerToken
                             : 0;
      CHECK(temporaries == layer.backwardTransient - sums);
      ++blocks;
    }
    const std::string op = row.at("step2_phase_forward_peak_op");
    if (op == "aten.mul.Tensor" || op == "aten.index_add.default") {
      // Inside the last layer: what the layers before left, and this one's temporaries before its output.
      const Bytes before = embedding.outputBytes + (depth - 1) * perLayer;
      const Bytes inside = layer.savedBytes() + layer.forwardTransient + (full ? 0 : layer.outputBytes);
      const Bytes recorded = bytesIn(row, "step2_phase_forward_peak_activation_bytes");
      CHECK(recorded == before + inside);
      ++forwards;
    }
  }
  CHECK(blocks + forwards > 0);
}

TEST_CASE("Selective checkpointing keeps the recorded outputs of matrix products") {
  const auto text = vsim::test::referenceText("pytorch/composition/checkpoint_savings.csv");
  if (!text) return;
  int compared = 0;
  for (const CsvRow& row : vsim::test::parseCsv(*text)) {
    const auto config = vsim::test::describedModel(row.at("model"));
    if (!config || (row.at("policy") != "sac_allmm" && row.at("policy") != "none")) continue;
    INFO(row.at("model") << " " << row.at("batch") << " x " << row.at("seq") << " " << row.at("policy"));
    WorkShape work;
    work.microBatch = bytesIn(row, "batch");
    work.sequence = bytesIn(row, "seq");
    const bool selective = row.at("policy") != "none";
    if (selective) work.checkpointing = Checkpointing::selective;
    Bytes bytes = 0;
    for (const SavedTensor& t : costsOf(*config, ModuleKind::layer, work).saved)
      if (t.newStorage && !t.layerInput && !t.parameterOrConstant) bytes += t.bytes();
    // The recorded policy keeps the attention's output, logsumexp and random state too; ours recomputes it.
    const Bytes tokens = work.microBatch * work.sequence;
    const Bytes attention = 2 * tokens * config->heads * config->headDim + 4 * tokens * config->heads + 24;
    CHECK(bytes + (selective ? attention : 0) == bytesIn(row, "saved_inside_layer_bytes"));
    CHECK(costsOf(*config, ModuleKind::layer, work).inputBytes == bytesIn(row, "layer_input_bytes"));
    ++compared;
  }
  CHECK(compared > 0);
}
