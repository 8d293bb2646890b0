#include "cli/output.h"

#include <cstdio>

#include "cli/command_line.h"
#include "traces/atomic_file.h"

namespace vsim::cli {
namespace {

/// Where results and messages go to one place, what was printed first stands first. A failure stays known to
/// stdout.
template <class... Arguments>
void complain(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  std::fflush(stdout);
  fmt::print(stderr, format, std::forward<Arguments>(arguments)...);
}

}  // namespace

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void warn(std::string_view text) { complain("vsim: warning: {}\n", text); }

void note(std::string_view text) { complain("vsim: note: {}\n", text); }

int reportWrongInput(const core::Errors& errors) {
  complain("{}\n", core::text(errors));
  return kWrongInput;
}

int reportFailure(const core::Error& error) {
  complain("vsim: {}\n", error.text());
  return kFailed;
}

int writeResult(const std::string& path, std::string_view text) {
  if (path == "-") {
    print(text);
    return kDone;
  }
  const auto written = traces::writeFileAtomically(path, text);
  return written ? int{kDone} : reportFailure(written.error());
}

bool outputSucceeded() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

}  // namespace vsim::cli
