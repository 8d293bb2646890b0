#include "core/model/costs_builder.h"

#include <algorithm>
#include <utility>

#include "core/base/checked.h"

namespace vsim::core {
namespace {

DType storedActivation(DType compute) { return compute == DType::fp8 ? DType::bf16 : compute; }

bool contains(const std::vector<SavedTensor>& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(), [&](const SavedTensor& t) { return t.name == name; });
}

/// m x n = (m x k)(k x n). With groups, m (or k, of weight gradients) counts all groups' rows together.
Operation product(const CostBuilder& b, std::string name, OpKind kind, std::int64_t m, std::int64_t n,
                  std::int64_t k, std::int64_t groups) {
  Operation op;
  op.kind = kind;
  op.dtype = b.work.compute;
  op.name = std::move(name);
  op.m = m;
  op.n = n;
  op.k = k;
  op.groups = groups;
  op.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  op.causalFlops = op.flops;
  return op;
}

}  // namespace

CostBuilder::CostBuilder(const ModelConfig& modelConfig, const WorkShape& workShape, std::int64_t layerIndex)
    : config(modelConfig),
      work(workShape),
      layer(layerIndex),
      tokens(workShape.microBatch * workShape.sequence),
      element(bytesOf(storedActivation(workShape.compute))),
      activation(storedActivation(workShape.compute)) {
  out_.forward.reserve(32);
  backward_.reserve(64);
  stepStarts_.reserve(32);
  saved_.reserve(64);
  if (workShape.checkpointing == Checkpointing::selective) {
    selective_.reserve(16);
    out_.recompute.reserve(24);
  }
}

void CostBuilder::forward(Operation op, Replay replay) {
  if (replay == Replay::selective && work.checkpointing == Checkpointing::selective)
    out_.recompute.push_back(op);
  out_.forward.push_back(std::move(op));
}

void CostBuilder::backward(Operation op) {
  op.backward = true;
  backward_.push_back(std::move(op));
}

void CostBuilder::linear(const std::string& name, const ActivationRef& input, std::int64_t in,
                         std::int64_t out, bool bias, Replay replay) {
  step();
  const Bytes operand = bytesOf(work.compute);
  const auto gemm = [&](const std::string& opName, std::int64_t m, std::int64_t n, std::int64_t k) {
    Operation op = product(*this, opName, OpKind::gemm, m, n, k, 1);
    op.bytesRead = operand * (m * k + k * n);
    op.bytesWritten = element * m * n;
    return op;
  };
  forward(gemm(name, tokens, out, in), replay);
  backward(gemm(name + ".dgrad", tokens, in, out));
  backward(gemm(name + ".wgrad", out, in, tokens));
  if (bias) biasGradient(name, tokens, out, 1);
  saveConstant(name + ".weight", {in, out}, activation);
  save(input, {tokens, in});
  if (replay == Replay::no) keepSelective(name + ".output", {tokens, out});
}

void CostBuilder::biasGradient(const std::string& name, std::int64_t rows, std::int64_t width,
                               std::int64_t groups) {
  Operation reduce;
  reduce.memoryOp = MemoryOp::reduction;
  reduce.dtype = activation;
  reduce.name = name + ".bias_grad";
  reduce.bytesRead = element * rows * width;
  reduce.bytesWritten = element * groups * width;
  backward(std::move(reduce));
}

void CostBuilder::grouped(const std::string& name, const ActivationRef& input, std::int64_t groups,
                          std::int64_t rows, std::int64_t in, std::int64_t out, bool bias) {
  step();
  const Bytes operand = bytesOf(work.compute);
  const Bytes inputElements = rows * in, weightElements = groups * in * out, outputElements = rows * out;
  const auto product3 = [&](const std::string& opName, std::int64_t m, std::int64_t n, std::int64_t k,
                            Bytes readElements, Bytes writtenElements) {
    Operation op = product(*this, opName, OpKind::groupedGemm, m, n, k, groups);
    op.bytesRead = operand * readElements;
    op.bytesWritten = element * writtenElements;
    return op;
  };
  forward(product3(name, rows, out, in, inputElements + weightElements, outputElements), Replay::no);
  backward(product3(name + ".dgrad", rows, in, out, outputElements + weightElements, inputElements));
  backward(product3(name + ".wgrad", out, in, rows, inputElements + outputElements, weightElements));
  if (bias) biasGradient(name, rows, out, groups);
  saveConstant(name + ".weight", {groups, in, out}, activation);
  save(input, {groups, ceilDivide(rows, groups), in});
  keepSelective(name + ".output", {rows, out});
}

void CostBuilder::memory(const std::string& name, MemoryOp kind, Bytes read, Bytes written,
                         Bytes backwardRead, Bytes backwardWritten, Replay replay, int launches) {
  step();
  Operation op;
  op.memoryOp = kind;
  op.dtype = activation;
  op.name = name;
  op.count = launches;
  op.bytesRead = read;
  op.bytesWritten = written;
  forward(op, replay);
  if (backwardRead + backwardWritten == 0) return;
  op.name += ".bwd";
  op.bytesRead = backwardRead;
  op.bytesWritten = backwardWritten;
  backward(std::move(op));
}

void CostBuilder::save(std::string name, std::vector<std::int64_t> shape, DType type) {
  SavedTensor tensor{.name = std::move(name), .shape = std::move(shape), .dtype = type};
  tensor.newStorage = !contains(saved_, tensor.name);
  saved_.push_back(std::move(tensor));
}

void CostBuilder::save(const ActivationRef& ref, std::vector<std::int64_t> shape) {
  save(ref.name, std::move(shape), activation);
  saved_.back().layerInput = ref.layerInput;
}

void CostBuilder::saveConstant(std::string name, std::vector<std::int64_t> shape, DType type) {
  save(std::move(name), std::move(shape), type);
  saved_.back().parameterOrConstant = true;
}

void CostBuilder::saveInput(std::string name, std::vector<std::int64_t> shape, DType type) {
  save(std::move(name), std::move(shape), type);
  saved_.back().layerInput = true;
}

void CostBuilder::keepSelective(std::string name, std::vector<std::int64_t> shape) {
  if (work.checkpointing != Checkpointing::selective) return;
  selective_.push_back({.name = std::move(name), .shape = std::move(shape), .dtype = activation});
}

void CostBuilder::assembleBackward() {
  out_.backward.reserve(backward_.size());
  std::size_t end = backward_.size();
  for (std::size_t s = stepStarts_.size(); s-- > 0;) {
    for (std::size_t i = stepStarts_[s]; i < end; ++i) out_.backward.push_back(std::move(backward_[i]));
    end = stepStarts_[s];
    const int last = static_cast<int>(out_.backward.size()) - 1;
    if (static_cast<int>(s) == backwardCombineStep_) out_.backwardCombineAfter = last;
    if (static_cast<int>(s) == backwardDispatchStep_) out_.backwardDispatchAfter = last;
  }
}

void CostBuilder::addShared(std::vector<SavedTensor>& list, std::vector<SavedTensor> more) {
  for (SavedTensor& tensor : more) {
    if (contains(list, tensor.name)) tensor.newStorage = false;
    list.push_back(std::move(tensor));
  }
}

ModuleCosts CostBuilder::finish() {
  assembleBackward();
  const bool checkpointed = layer >= 0 && work.checkpointing != Checkpointing::none;
  if (!checkpointed) {
    out_.saved = std::move(saved_);
    return std::move(out_);
  }
  if (work.checkpointing == Checkpointing::full) out_.recompute = out_.forward;

  // The checkpoint's arguments: the layer's input and the rotary tables.
  SavedTensor input{.name = "input",
                    .shape = {work.microBatch, work.sequence, config.hidden},
                    .dtype = activation,
                    .layerInput = true};
  out_.saved.push_back(std::move(input));
  for (const SavedTensor& tensor : saved_)
    if (tensor.parameterOrConstant && tensor.newStorage && tensor.name.starts_with("rotary."))
      out_.saved.push_back(tensor);
  out_.saved.insert(out_.saved.end(), selective_.begin(), selective_.end());
  std::vector<SavedTensor> all;
  all.reserve(out_.saved.size() + saved_.size());
  all = out_.saved;
  const std::size_t before = all.size();
  addShared(all, std::move(saved_));
  out_.savedInRecompute.assign(std::make_move_iterator(all.begin() + static_cast<std::ptrdiff_t>(before)),
                               std::make_move_iterator(all.end()));
  return std::move(out_);
}

}  // namespace vsim::core
