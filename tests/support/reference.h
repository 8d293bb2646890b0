#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace vsim::test {

/// Folder of reference data: $VSIM_VALIDATION, else tests/data/validation of the checkout.
std::string validationFolder();
/// Folder of real input files: $VSIM_INPUTS, else tests/data/inputs of the checkout.
std::string inputsFolder();

/// Text of validationFolder()/`name` (gunzipped when the file or file + ".gz" is compressed). When it is
/// missing, prints "SKIPPED: <path> not found" (ctest then reports the test as skipped) and returns nullopt.
std::optional<std::string> referenceText(const std::string& name);
/// The same for inputsFolder().
std::optional<std::string> inputText(const std::string& name);

/// Names of the files directly in folder `dir` (absolute) that end with `suffix`, sorted; empty when there
/// are none.
std::vector<std::string> filesIn(const std::string& dir, const std::string& suffix);

/// Rows of a CSV text with a header line: column name -> value. Handles quoted fields.
using CsvRow = std::map<std::string, std::string>;
std::vector<CsvRow> parseCsv(const std::string& text);

}  // namespace vsim::test
