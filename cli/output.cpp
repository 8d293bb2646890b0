#include "cli/output.h"

#include <cstdio>

#include "cli/command_line.h"
#include "traces/atomic_file.h"

namespace vsim::cli {

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void warn(std::string_view text) { fmt::print(stderr, "vsim: warning: {}\n", text); }

void note(std::string_view text) { fmt::print(stderr, "vsim: note: {}\n", text); }

int reportWrongInput(const core::Errors& errors) {
  fmt::print(stderr, "{}\n", core::text(errors));
  return kWrongInput;
}

int reportFailure(const core::Error& error) {
  fmt::print(stderr, "vsim: {}\n", error.text());
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
