#include "core/dbuffer/group_operation.h"

#include <string>

namespace vsim::core {
namespace {

MemoryOp memoryOp(GroupOp op) {
  switch (op) {
    case GroupOp::cast:
      return MemoryOp::cast;
    case GroupOp::copy:
      return MemoryOp::copy;
    case GroupOp::norm:
      return MemoryOp::reduction;
    case GroupOp::zero:
    case GroupOp::scale:
    case GroupOp::add:
    case GroupOp::axpy:
      break;
  }
  return MemoryOp::elementwise;
}

}  // namespace

GroupOperation groupOperation(GroupOp op, std::int64_t elements, DType from, DType to) {
  GroupOperation result{.op = op, .elements = elements, .from = from, .to = to};
  const Bytes source = elements * bytesOf(from), target = elements * bytesOf(to);
  switch (op) {
    case GroupOp::zero:
      result.bytesWritten = target;
      break;
    case GroupOp::scale:
      result.bytesRead = result.bytesWritten = target;
      break;
    case GroupOp::add:
    case GroupOp::axpy:
      result.bytesRead = source + target;
      result.bytesWritten = target;
      break;
    case GroupOp::cast:
    case GroupOp::copy:
      result.bytesRead = source;
      result.bytesWritten = target;
      break;
    case GroupOp::norm:
      result.bytesRead = source;
      result.bytesWritten = bytesOf(DType::fp32);
      break;
  }
  return result;
}

Operation asKernel(const GroupOperation& operation) {
  Operation kernel;
  kernel.kind = OpKind::memory;
  kernel.memoryOp = memoryOp(operation.op);
  kernel.dtype = operation.to;
  kernel.name = "group_" + std::string(kGroupOpNames[static_cast<std::size_t>(operation.op)]);
  kernel.bytesRead = operation.bytesRead;
  kernel.bytesWritten = operation.bytesWritten;
  return kernel;
}

}  // namespace vsim::core
