#include <fmt/format.h>

#include <iterator>

#include "core/report/text.h"

namespace vsim::core {
namespace {

void explainFlops(std::string& out, const RunReport& run) {
  const RunFacts& facts = run.facts;
  const auto at = std::back_inserter(out);
  fmt::format_to(at,
                 "  FLOPs per token = 6 N_active + 12 layers heads head_dim sequence (full attention)\n"
                 "    = 6 x {} + 12 x {} x {} x {} x {} = {:.6g}\n",
                 formatCount(facts.activeParameters), facts.layers, facts.heads, facts.headDim,
                 facts.sequence, modelFlopsPerToken(facts));
  fmt::format_to(at,
                 "  MFU = tokens/s/GPU x FLOPs per token / dense peak\n"
                 "    = {:.6g} x {:.6g} / {:.6g} = {:.6f}\n",
                 run.tokensPerSecondPerGpu, modelFlopsPerToken(facts), run.hardware.peakFlops, run.mfu);
  fmt::format_to(at,
                 "  HFU = the same with the {:.6g} FLOPs per token of the recomputed forward\n"
                 "    = {:.6g} x {:.6g} / {:.6g} = {:.6f}\n",
                 facts.recomputeFlopsPerToken, run.tokensPerSecondPerGpu,
                 modelFlopsPerToken(facts) + facts.recomputeFlopsPerToken, run.hardware.peakFlops, run.hfu);
}

void explainTimes(std::string& out, const RunReport& run) {
  fmt::format_to(
      std::back_inserter(out),
      "  step = compute (a kernel runs on the default stream) + exposed (a collective runs, no such\n"
      "    kernel) + bubble (neither): {:.6f} + {:.6f} + {:.6f} = {:.6f} s\n"
      "    of the bubble, {:.6f} s pass while another stream copies\n"
      "  tokens/s = tokens a step / step = {} / {:.6f} = {:.6g}\n",
      run.computeSeconds, run.exposedCommSeconds, run.bubbleSeconds, run.stepSeconds, run.bubbleCopiesSeconds,
      formatCount(run.facts.tokensPerStep), run.stepSeconds, run.tokensPerSecond);
  if (run.relativeError)
    fmt::format_to(
        std::back_inserter(out),
        "  standard error {:.4f} of the step: kernels' errors added up, exposed collectives' errors\n"
        "    added up, the two sums taken as independent\n",
        *run.relativeError);
}

}  // namespace

std::string explain(const RunReport& run) {
  std::string out = run.facts.system + ": how these figures come about\n";
  if (run.completed) {
    explainTimes(out, run);
    explainFlops(out, run);
  }
  const Bytes outside = run.hardware.contextBytes + run.hardware.ncclBytes;
  fmt::format_to(std::back_inserter(out),
                 "  memory = reserved + context + NCCL against capacity: {} + {} + {} = {} against {}\n",
                 formatBytes(run.peakReserved), formatBytes(run.hardware.contextBytes),
                 formatBytes(run.hardware.ncclBytes), formatBytes(run.peakReserved + outside),
                 formatBytes(run.hardware.capacityBytes));
  return out;
}

}  // namespace vsim::core
