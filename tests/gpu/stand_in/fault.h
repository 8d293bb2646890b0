#pragma once

#include <string>

namespace vsim::test {

/// Something that goes wrong on purpose. `after` counts from 1 on the device (or on all, device -1).
struct Fault {
  enum class Kind {
    call,         // the after-th call of `call` ("allocate") answers `code` and `text`, and does nothing
    deviceError,  // the after-th piece of stream work breaks the device: every later call answers that
    communicatorError,  // the after-th collective never ends; its communicator reports an error
    stall,              // the after-th collective never ends, and nobody is told
    absent,             // the after-th join of a communicator never arrives
  };
  Kind kind = Kind::call;
  std::string call{};
  int device = -1;
  int after = 1;
  int code = 999;
  std::string text = "unknown error (999)";
};

}  // namespace vsim::test
