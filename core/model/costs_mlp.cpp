#include "core/model/costs_builder.h"

namespace vsim::core {

ActivationTraffic activationTraffic(const CostBuilder& b) {
  const std::int64_t e = b.element;
  // Plain: y = act(x); the gradient reads x and dy. Gated: act and product are two kernels forward and three
  // backward, or one each when compiled.
  if (b.config.mlp == MlpKind::plain) return {e, e, 2 * e, e, 1};
  if (b.work.compiled) return {2 * e, e, 3 * e, 2 * e, 1};
  return {3 * e, 2 * e, 6 * e, 3 * e, 2};
}

void addMlp(CostBuilder& b, const std::string& prefix, const ActivationRef& input, std::int64_t width,
            bool bias, bool fusedGateUp) {
  const std::int64_t hidden = b.config.hidden;
  const std::int64_t batch = b.work.microBatch, sequence = b.work.sequence;
  const ActivationTraffic t = activationTraffic(b);
  const Bytes elements = b.tokens * width;
  const auto activate = [&] {
    b.memory(prefix + "act", MemoryOp::activation, t.read * elements, t.written * elements,
             t.backwardRead * elements, t.backwardWritten * elements, Replay::selective, t.launches);
  };
  const std::string up = prefix + "up_proj", gate = prefix + "gate_proj";
  ActivationRef product{prefix + "act.output"};
  if (b.config.mlp == MlpKind::plain) {
    b.linear(up, input, hidden, width, bias);
    activate();
    b.save(up + ".output", {batch, sequence, width}, b.activation);
  } else if (fusedGateUp) {
    const std::string both = prefix + "gate_up_proj";
    b.linear(both, input, hidden, 2 * width, bias);
    activate();
    b.save(both + ".output", {batch, sequence, 2 * width}, b.activation);
    b.save(prefix + "act.silu", {batch, sequence, width}, b.activation);
  } else {
    b.linear(gate, input, hidden, width, bias);
    b.save(gate + ".output", {batch, sequence, width}, b.activation);
    b.linear(up, input, hidden, width, bias);
    activate();
    b.save(up + ".output", {batch, sequence, width}, b.activation);
    b.save(prefix + "act.silu", {batch, sequence, width}, b.activation);
  }
  b.linear(prefix + "down_proj", product, width, hidden, bias);
}

}  // namespace vsim::core
