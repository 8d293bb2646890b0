#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/model/costs.h"
#include "core/model/model_graph.h"

namespace {

using namespace vsim::core;

ModelConfig llama() {
  ModelConfig c;
  c.name = "llama";
  c.layers = 2;
  c.hidden = 64;
  c.vocabulary = 1000;
  c.heads = 8;
  c.kvHeads = 2;
  c.headDim = 8;
  c.intermediate = 160;
  return c;
}

ModelConfig gpt() {
  ModelConfig c = llama();
  c.kvHeads = 8;
  c.norm = NormKind::layer;
  c.position = PositionKind::learned;
  c.maxPositions = 128;
  c.mlp = MlpKind::plain;
  c.intermediate = 256;
  c.fusedQkv = c.qkvBias = c.outputBias = c.mlpBias = true;
  return c;
}

ModelConfig mixture() {
  ModelConfig c = llama();
  c.experts = 16;
  c.expertsPerToken = 4;
  c.expertIntermediate = 32;
  c.sharedExperts = 1;
  c.sharedIntermediate = 48;
  c.moe = {false, true};
  return c;
}

ModelConfig latent() {
  ModelConfig c = llama();
  c.attention = AttentionKind::mla;
  c.kvHeads = 8;
  c.qLoraRank = 24;
  c.kvLoraRank = 16;
  c.qkNopeDim = 16;
  c.qkRopeDim = 8;
  c.headDimValue = 12;
  return c;
}

WorkShape work(std::int64_t batch = 2, std::int64_t sequence = 32) {
  WorkShape w;
  w.microBatch = batch;
  w.sequence = sequence;
  return w;
}

ModuleCosts costs(const ModelConfig& c, const WorkShape& w, ModuleKind kind = ModuleKind::layer,
                  std::int64_t layer = 0) {
  auto result = moduleCosts(c, kind, layer, w);
  if (!result) FAIL(result.error().message);
  return std::move(*result);
}

std::vector<std::string> names(const std::vector<Operation>& operations) {
  std::vector<std::string> list;
  for (const Operation& op : operations) list.push_back(op.name);
  return list;
}

const Operation& find(const std::vector<Operation>& operations, const std::string& name) {
  for (const Operation& op : operations)
    if (op.name == name) return op;
  FAIL("no operation " << name);
  return operations.front();
}

Flops gemmFlops(const std::vector<Operation>& operations) {
  Flops sum = 0;
  for (const Operation& op : operations)
    if (op.kind == OpKind::gemm || op.kind == OpKind::groupedGemm) sum += op.flops;
  return sum;
}

Bytes traffic(const std::vector<Operation>& operations, MemoryOp kind) {
  Bytes sum = 0;
  for (const Operation& op : operations)
    if (op.kind == OpKind::memory && op.memoryOp == kind) sum += op.bytesRead + op.bytesWritten;
  return sum;
}

}  // namespace

TEST_CASE("A dense layer's operations come in execution order") {
  const ModuleCosts c = costs(llama(), work());
  CHECK(names(c.forward) == std::vector<std::string>{"attn_norm", "q_proj", "k_proj", "v_proj", "rope",
                                                     "attention", "o_proj", "attn_residual", "mlp_norm",
                                                     "gate_proj", "up_proj", "act", "down_proj",
                                                     "mlp_residual"});
  CHECK(names(c.backward) ==
        std::vector<std::string>{
            "mlp_residual.bwd", "down_proj.dgrad", "down_proj.wgrad", "act.bwd",      "up_proj.dgrad",
            "up_proj.wgrad",    "gate_proj.dgrad", "gate_proj.wgrad", "mlp_norm.bwd", "attn_residual.bwd",
            "o_proj.dgrad",     "o_proj.wgrad",    "attention.bwd",   "rope.bwd",     "v_proj.dgrad",
            "v_proj.wgrad",     "k_proj.dgrad",    "k_proj.wgrad",    "q_proj.dgrad", "q_proj.wgrad",
            "attn_norm.bwd"});
  CHECK(c.recompute.empty());
  CHECK(std::all_of(c.backward.begin(), c.backward.end(), [](const Operation& op) { return op.backward; }));
}

TEST_CASE("Shapes, FLOPs and bytes of a projection by hand") {
  const ModuleCosts c = costs(llama(), work());  // 64 tokens
  const Operation& gate = find(c.forward, "gate_proj");
  CHECK(gate.m == 64);
  CHECK(gate.n == 160);
  CHECK(gate.k == 64);
  CHECK(gate.flops == 2.0 * 64 * 160 * 64);
  CHECK(gate.bytesRead == 2 * (64 * 64 + 64 * 160));
  CHECK(gate.bytesWritten == 2 * 64 * 160);
  const Operation& dgrad = find(c.backward, "gate_proj.dgrad");
  CHECK(std::vector<std::int64_t>{dgrad.m, dgrad.n, dgrad.k} == std::vector<std::int64_t>{64, 64, 160});
  const Operation& wgrad = find(c.backward, "gate_proj.wgrad");
  CHECK(std::vector<std::int64_t>{wgrad.m, wgrad.n, wgrad.k} == std::vector<std::int64_t>{160, 64, 64});
}

TEST_CASE("Attention: full, causal and windowed work") {
  ModelConfig config = llama();
  const ModuleCosts causal = costs(config, work());
  const Operation& forward = find(causal.forward, "attention");
  CHECK(forward.flops == 2.0 * 2 * 8 * 32 * 32 * (8 + 8));
  CHECK(forward.causalFlops == 2.0 * 2 * 8 * (32 * 33 / 2) * (8 + 8));
  CHECK(forward.kvHeads == 2);
  const Operation& backward = find(causal.backward, "attention.bwd");
  CHECK(backward.kind == OpKind::attentionBackward);
  CHECK(backward.causalFlops == 2.5 * forward.causalFlops);

  config.slidingWindow = 4;
  config.windowed = {true, false};
  const ModuleCosts windowed = costs(config, work());
  // The first four tokens see 1, 2, 3 and 4, the other 28 see four each.
  CHECK(find(windowed.forward, "attention").causalFlops == 2.0 * 2 * 8 * (10 + 28 * 4) * (8 + 8));
  CHECK(find(windowed.forward, "attention").window == 4);
  CHECK(find(costs(config, work(), ModuleKind::layer, 1).forward, "attention").window == 0);
  config.slidingWindow = 100;
  CHECK(find(costs(config, work()).forward, "attention").causalFlops == forward.causalFlops);
}

TEST_CASE("Latent attention: head sizes and low-rank projections") {
  const ModuleCosts c = costs(latent(), work());
  const Operation& forward = find(c.forward, "attention");
  CHECK(forward.headDim == 24);
  CHECK(forward.headDimValue == 12);
  CHECK(forward.flops == 2.0 * 2 * 8 * 32 * 32 * (24 + 12));
  CHECK(find(c.backward, "attention.bwd").flops == 2.0 * 2 * 8 * 32 * 32 * (3 * 24 + 2 * 12));
  CHECK(find(c.forward, "q_a_proj").n == 24);
  CHECK(find(c.forward, "q_b_proj").n == 8 * 24);
  CHECK(find(c.forward, "kv_a_proj").n == 16 + 8);
  CHECK(find(c.forward, "kv_b_proj").n == 8 * (16 + 12));
  CHECK(find(c.forward, "o_proj").k == 8 * 12);
}

TEST_CASE("Memory-bound bytes per token of a GPT layer") {
  const ModelConfig config = gpt();
  const std::int64_t d = config.hidden, f = config.intermediate, tokens = 64;
  const ModuleCosts c = costs(config, work());
  CHECK(traffic(c.forward, MemoryOp::norm) == tokens * 8 * d);
  CHECK(traffic(c.forward, MemoryOp::activation) == tokens * 4 * f);
  CHECK(traffic(c.forward, MemoryOp::residual) == tokens * 12 * d);
  CHECK(traffic(c.forward, MemoryOp::copy) == tokens * 16 * d);
  CHECK(traffic(c.backward, MemoryOp::norm) == tokens * 12 * d);
  CHECK(traffic(c.backward, MemoryOp::activation) == tokens * 6 * f);
  CHECK(traffic(c.backward, MemoryOp::residual) == tokens * 12 * d);
  CHECK(traffic(c.backward, MemoryOp::copy) == tokens * 16 * d);
  // Bias gradients read 3d + d + 4d + d elements per token (f = 4d).
  CHECK(traffic(c.backward, MemoryOp::reduction) == tokens * 18 * d + 18 * d);
}

TEST_CASE("Memory-bound bytes per token of a llama layer") {
  const ModelConfig config = llama();
  const std::int64_t d = config.hidden, kv = 16, f = config.intermediate, tokens = 64;
  WorkShape w = work();
  w.fusedNorm = false;
  const ModuleCosts eager = costs(config, w);
  CHECK(traffic(eager.forward, MemoryOp::norm) == tokens * 60 * d);
  CHECK(traffic(eager.backward, MemoryOp::norm) == tokens * 90 * d);
  CHECK(traffic(eager.forward, MemoryOp::activation) == tokens * 10 * f);
  CHECK(traffic(eager.backward, MemoryOp::activation) == tokens * 18 * f);
  CHECK(traffic(eager.forward, MemoryOp::rope) == tokens * 28 * (d + kv));
  CHECK(traffic(eager.backward, MemoryOp::rope) == tokens * 28 * (d + kv));
  w.compiled = true;
  const ModuleCosts compiled = costs(config, w);
  CHECK(traffic(compiled.forward, MemoryOp::norm) == tokens * 15 * d);
  CHECK(traffic(compiled.forward, MemoryOp::rope) == tokens * 7 * (d + kv));
  w.fusedNorm = true;
  CHECK(traffic(costs(config, w).forward, MemoryOp::norm) == tokens * 8 * d);
}

TEST_CASE("Bytes per logit by loss kernel") {
  const auto perLogit = [](LossKernel loss, bool compiled) {
    WorkShape w = work();
    w.loss = loss;
    w.compiled = compiled;
    const ModuleCosts c = costs(llama(), w, ModuleKind::head);
    return (traffic(c.forward, MemoryOp::loss) + traffic(c.backward, MemoryOp::loss)) / (64 * 1000);
  };
  CHECK(perLogit(LossKernel::unfusedFp32, false) == 50);
  CHECK(perLogit(LossKernel::eager, false) == 32);
  CHECK(perLogit(LossKernel::eager, true) == 14);
  CHECK(perLogit(LossKernel::fused, false) == 6);
}

TEST_CASE("Experts: balanced rows, groups and the place of the all-to-alls") {
  WorkShape w = work();
  const ModuleCosts alone = costs(mixture(), w, ModuleKind::layer, 1);
  CHECK(alone.dispatchAfter == -1);
  CHECK(alone.dispatchBytes == 0);
  CHECK(find(alone.forward, "expert_gate").groups == 16);
  CHECK(find(alone.forward, "expert_gate").m == 64 * 4);
  CHECK(find(alone.forward, "expert_gate").flops == 2.0 * 256 * 64 * 32);
  CHECK(find(alone.forward, "shared_up_proj").n == 48);
  CHECK(find(alone.forward, "router").n == 16);

  w.expertParallel = 4;
  const ModuleCosts c = costs(mixture(), w, ModuleKind::layer, 1);
  CHECK(c.dispatchBytes == 2 * 256 * 64);
  const auto at = [](int index) { return static_cast<std::size_t>(index); };
  CHECK(c.forward[at(c.dispatchAfter)].name == "moe_permute");
  CHECK(c.forward[at(c.dispatchAfter) + 1].name == "moe_local_permute");
  CHECK(c.forward[at(c.combineAfter)].name == "moe_local_unpermute");
  CHECK(c.forward[at(c.combineAfter) + 1].name == "moe_unpermute");
  CHECK(c.backward[at(c.backwardCombineAfter)].name == "moe_unpermute.bwd");
  CHECK(c.backward[at(c.backwardCombineAfter) + 1].name == "moe_local_unpermute.bwd");
  CHECK(c.backward[at(c.backwardDispatchAfter)].name == "moe_local_permute.bwd");
  CHECK(c.backward[at(c.backwardDispatchAfter) + 1].name == "moe_permute.bwd");
  CHECK(find(c.forward, "expert_gate").groups == 4);
  CHECK(gemmFlops(c.forward) == gemmFlops(alone.forward));

  const ModuleCosts dense = costs(mixture(), w, ModuleKind::layer, 0);
  CHECK(dense.dispatchAfter == -1);
  CHECK(find(dense.forward, "gate_proj").n == 160);
}

TEST_CASE("Tensor parallelism divides heads, widths and vocabulary") {
  WorkShape w = work();
  w.tensorParallel = 2;
  const ModuleCosts one = costs(llama(), work()), half = costs(llama(), w);
  CHECK(gemmFlops(half.forward) == gemmFlops(one.forward) / 2);
  CHECK(find(half.forward, "attention").flops == find(one.forward, "attention").flops / 2);
  CHECK(find(half.forward, "o_proj").k == 32);
  CHECK(find(half.forward, "down_proj").n == 64);
  CHECK(find(costs(llama(), w, ModuleKind::head).forward, "head").n == 500);
  const ModuleCosts experts = costs(mixture(), w, ModuleKind::layer, 1);
  CHECK(find(experts.forward, "expert_up").m == 128);
  CHECK(find(experts.forward, "expert_up").n == 32);
}

TEST_CASE("What does not divide is refused with the numbers") {
  const auto message = [](const ModelConfig& c, std::int64_t tp, std::int64_t ep, ModuleKind kind,
                          std::int64_t layer) {
    WorkShape w = work();
    w.tensorParallel = tp;
    w.expertParallel = ep;
    const auto result = moduleCosts(c, kind, layer, w);
    return result ? std::string() : result.error().message;
  };
  CHECK_THAT(message(llama(), 3, 1, ModuleKind::layer, 0), Catch::Contains("8 attention heads"));
  CHECK_THAT(message(llama(), 4, 1, ModuleKind::layer, 0), Catch::Contains("2 key-value heads"));
  ModelConfig odd = llama();
  odd.intermediate = 161;
  CHECK_THAT(message(odd, 2, 1, ModuleKind::layer, 0), Catch::Contains("161 MLP width"));
  CHECK_THAT(message(llama(), 3, 1, ModuleKind::head, -1), Catch::Contains("1000 vocabulary"));
  CHECK_THAT(message(llama(), 3, 1, ModuleKind::embedding, -1), Catch::Contains("1000 vocabulary"));
  CHECK_THAT(message(mixture(), 1, 3, ModuleKind::layer, 1), Catch::Contains("16 experts"));
  CHECK_THAT(message(mixture(), 1, 32, ModuleKind::layer, 1), Catch::Contains("16 experts"));
  CHECK(message(mixture(), 1, 3, ModuleKind::layer, 0).empty());
  CHECK(message(llama(), 3, 1, ModuleKind::finalNorm, -1).empty());
  CHECK_FALSE(message(llama(), 1, 1, ModuleKind::layer, 2).empty());
  CHECK_FALSE(message(llama(), 1, 1, ModuleKind::layer, -1).empty());
  CHECK_FALSE(message(llama(), 0, 1, ModuleKind::layer, 0).empty());
  CHECK_FALSE(message(llama(), 1, -1, ModuleKind::layer, 0).empty());
}

TEST_CASE("Sizes beyond 64 bits are refused, never wrapped") {
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  WorkShape w = work(huge, huge);
  CHECK_FALSE(moduleCosts(llama(), ModuleKind::layer, 0, w).has_value());
  w = work(std::int64_t{1} << 20, std::int64_t{1} << 36);
  CHECK_FALSE(moduleCosts(llama(), ModuleKind::head, -1, w).has_value());
  ModelConfig c = llama();
  c.vocabulary = huge;
  CHECK_FALSE(moduleCosts(c, ModuleKind::embedding, -1, work()).has_value());
  w = work(0, 32);
  CHECK_FALSE(moduleCosts(llama(), ModuleKind::layer, 0, w).has_value());
}

TEST_CASE("Checkpointing: what is kept and what runs again") {
  for (const ModelConfig& config : {llama(), gpt(), mixture(), latent()}) {
    INFO(config.intermediate);
    WorkShape w = work();
    w.expertParallel = 4;
    const ModuleCosts none = costs(config, w, ModuleKind::layer, 1);
    w.checkpointing = Checkpointing::full;
    const ModuleCosts full = costs(config, w, ModuleKind::layer, 1);
    w.checkpointing = Checkpointing::selective;
    const ModuleCosts selective = costs(config, w, ModuleKind::layer, 1);

    CHECK(full.savedBytes() == 0);
    CHECK(full.keepsInput());
    CHECK(full.recomputedBytes() == none.savedBytes());
    CHECK(names(full.recompute) == names(full.forward));
    CHECK(names(full.backward) == names(none.backward));
    CHECK(full.backwardTransient == none.backwardTransient);

    CHECK(selective.keepsInput());
    CHECK(selective.savedBytes() < none.savedBytes());
    CHECK(selective.recomputedBytes() < none.savedBytes());
    CHECK(selective.savedBytes() > full.savedBytes());
    CHECK(find(selective.recompute, "attention").kind == OpKind::attentionForward);
    for (const Operation& op : selective.recompute)
      CHECK((op.kind != OpKind::gemm || op.name == "router" || op.name == "shared_gate"));
    CHECK(names(selective.backward) == names(none.backward));
  }
  WorkShape w = work();
  w.checkpointing = Checkpointing::full;
  for (const ModuleKind kind : {ModuleKind::embedding, ModuleKind::finalNorm, ModuleKind::head})
    CHECK(costs(llama(), w, kind, -1).recompute.empty());
}

TEST_CASE("Rows of the saved list: written-out norms, parallel blocks, fused projections") {
  WorkShape w = work();
  const Bytes fused = costs(llama(), w).savedBytes();
  w.fusedNorm = false;
  const ModuleCosts eager = costs(llama(), w);
  // Two norms keep an fp32 copy and a scaled value; only the second one's input was this layer's own.
  CHECK(eager.savedBytes() == fused + 64 * 64 * (2 * 4 + 2 * 2 - 2));
  CHECK_FALSE(eager.keepsInput());

  ModelConfig parallel = gpt();
  parallel.parallelBlock = true;
  const ModuleCosts shared = costs(parallel, work());
  CHECK(std::count_if(shared.forward.begin(), shared.forward.end(),
                      [](const Operation& op) { return op.memoryOp == MemoryOp::norm; }) == 1);
  parallel.parallelNorms = true;
  CHECK(names(costs(parallel, work()).forward).size() == shared.forward.size() + 1);
}

TEST_CASE("Embedding and tied head") {
  ModelConfig config = gpt();
  config.tiedEmbeddings = true;
  config.embeddingNorm = true;
  const ModuleCosts c = costs(config, work(), ModuleKind::embedding, -1);
  CHECK(names(c.forward) ==
        std::vector<std::string>{"embedding", "position_embedding", "position_add", "embedding_norm"});
  CHECK(names(c.backward) == std::vector<std::string>{"embedding_norm.bwd", "tied_grad_add",
                                                      "position_embedding.bwd", "embedding.bwd"});
  CHECK(c.outputBytes == 64 * 64 * 2);
}

TEST_CASE("Random decoders: backward is twice forward, work is conserved, nothing is negative") {
  std::mt19937 random(7);
  const auto pick = [&](std::initializer_list<std::int64_t> values) {
    std::uniform_int_distribution<std::size_t> at(0, values.size() - 1);
    return *(values.begin() + static_cast<std::ptrdiff_t>(at(random)));
  };
  for (int trial = 0; trial < 400; ++trial) {
    ModelConfig c = pick({0, 1}) ? llama() : latent();
    c.kvHeads = c.attention == AttentionKind::mla ? 8 : pick({4, 8});
    c.norm = pick({0, 1}) ? NormKind::rms : NormKind::layer;
    c.mlp = pick({0, 1}) ? MlpKind::gated : MlpKind::plain;
    c.position = pick({0, 1}) ? PositionKind::rotary : PositionKind::alibi;
    c.qkNorm = pick({0, 1}), c.fusedQkv = pick({0, 1}), c.qkvBias = pick({0, 1}), c.mlpBias = pick({0, 1});
    c.postNorms = pick({0, 1}), c.preNorms = !c.postNorms || pick({0, 1}), c.attentionGate = pick({0, 1});
    c.fusedGateUp = pick({0, 1}), c.parallelBlock = pick({0, 1}), c.fusedExperts = pick({0, 1});
    if (pick({0, 1})) {
      c.experts = pick({8, 16}), c.expertsPerToken = pick({1, 2, 4}), c.expertIntermediate = 96;
      c.sharedIntermediate = pick({0, 64}), c.sharedExpertGate = pick({0, 1}), c.expertBias = pick({0, 1});
      c.moe = {true, true};
    }
    if (pick({0, 0, 1})) {
      c.layerAttention = {AttentionKind::linear, c.attention};
      c.linear = pick({0, 1}) ? LinearKind::gatedDelta : LinearKind::lightning;
      c.linearKeyHeads = 4, c.linearValueHeads = 8, c.linearKeyDim = 16, c.linearValueDim = 16;
      c.linearConvKernel = 4;
    }
    WorkShape w = work(pick({1, 2, 3}), pick({1, 64, 256}));
    w.fusedNorm = pick({0, 1}), w.compiled = pick({0, 1});
    w.expertParallel = pick({1, 2, 8});
    w.checkpointing = pick({0, 1}) ? Checkpointing::none : Checkpointing::selective;
    INFO("trial " << trial);
    const ModuleCosts whole = costs(c, w);
    CHECK(gemmFlops(whole.backward) == 2 * gemmFlops(whole.forward));
    CHECK(gemmFlops(whole.recompute) < gemmFlops(whole.forward));
    for (const auto* list : {&whole.forward, &whole.backward, &whole.recompute})
      for (const Operation& op : *list) {
        CHECK(op.flops >= op.causalFlops);
        CHECK(op.bytesRead > 0);
        CHECK(op.bytesWritten >= 0);
        CHECK(op.count >= 1);
      }
    for (const SavedTensor& t : whole.saved) CHECK(t.bytes() > 0);
    CHECK(whole.forwardTransient > 0);
    CHECK(whole.backwardTransient > whole.outputBytes);

    // Two ranks together do the work of one, except where every rank computes the same.
    WorkShape halved = w;
    halved.tensorParallel = 2;
    const ModuleCosts half = costs(c, halved);
    CHECK(gemmFlops(half.forward) <= gemmFlops(whole.forward));
    CHECK(gemmFlops(half.forward) * 2 >= gemmFlops(whole.forward));
    WorkShape doubled = w;
    doubled.microBatch *= 2;
    const ModuleCosts twice = costs(c, doubled);
    CHECK(gemmFlops(twice.forward) == 2 * gemmFlops(whole.forward));
    CHECK(gemmFlops(twice.backward) == 2 * gemmFlops(whole.backward));
    CHECK(twice.outputBytes == 2 * whole.outputBytes);
    CHECK(twice.backwardTransient == 2 * whole.backwardTransient);
    CHECK(names(twice.forward) == names(whole.forward));
  }
}

TEST_CASE("A module of a graph costs what its configuration says") {
  const ModelGraph graph(mixture());
  for (const Module& module : graph.modules()) {
    const auto fromGraph = moduleCosts(graph, module, work());
    REQUIRE(fromGraph.has_value());
    const ModuleCosts direct = costs(mixture(), work(), module.kind, module.layer);
    CHECK(names(fromGraph->forward) == names(direct.forward));
    CHECK(fromGraph->forwardFlops() == direct.forwardFlops());
    CHECK(fromGraph->savedBytes() == direct.savedBytes());
  }
}
