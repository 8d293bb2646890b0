#include "gpu/job/host_name.h"

#include <unistd.h>

#include <array>

namespace vsim::gpu {

std::string hostName() {
  std::array<char, 256> name{};
  // A name that is too long comes without its end mark: the last place stays 0.
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

}  // namespace vsim::gpu
