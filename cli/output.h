#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"

namespace vsim::cli {

/// Results go to standard output, everything else to standard error, so that pipes carry results only.
void print(std::string_view text);
/// "vsim: warning: ..." and "vsim: note: ..." on standard error.
void warn(std::string_view text);
void note(std::string_view text);

/// Prints the problems and answers kWrongInput.
[[nodiscard]] int reportWrongInput(const core::Errors& errors);
/// Prints the problem and answers kFailed.
[[nodiscard]] int reportFailure(const core::Error& error);

/// Writes to standard output for "-", else to the file as a whole. Answers an exit code.
[[nodiscard]] int writeResult(const std::string& path, std::string_view text);

/// Whether all of standard output could be written; call once at the end.
[[nodiscard]] bool outputSucceeded();

}  // namespace vsim::cli
