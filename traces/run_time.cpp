#include "traces/run_time.h"

#include <charconv>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace vsim::traces {

std::int64_t runTime() {
  if (const char* given = std::getenv("SOURCE_DATE_EPOCH")) {
    const std::string_view text(given);
    std::int64_t seconds = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (problem == std::errc() && end == text.data() + text.size() && seconds >= 0) return seconds;
  }
  return static_cast<std::int64_t>(std::time(nullptr));
}

}  // namespace vsim::traces
