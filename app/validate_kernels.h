#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/csv_table.h"
#include "core/base/error.h"

namespace vsim::app {

/// `vsim validate TABLE [--fit TABLE] [--folds K]`.
struct KernelValidationOptions {
  std::string table{};       // path of the measured kernels
  std::string fitTable{};    // fit on this table first; empty: the bundled parameters (or `parameters`)
  std::string parameters{};  // parameter file; empty: bundled. Ignored when something is fitted
  int folds = 0;             // 2 or more: cross-validate on `table` (rows of `fitTable` always train)
  int threads = 0;           // 0: as many as the machine has
};

/// One row of the table with its prediction, or why there is none.
struct ValidatedRow {
  std::string id, group;  // group: the operation
  std::string gpu, family, format, library;
  double measured = 0, predicted = 0, naive = 0;  // microseconds
  double error = 0;                               // predicted / measured - 1
  std::string reasonSkipped;                      // empty: predicted
};

struct ValidatedGroup {
  std::string name;
  std::size_t rows = 0;
  double mae = 0, bias = 0, naiveMae = 0, medianError = 0;
};

/// Errors are fractions: mae = mean |predicted/measured - 1|, bias = geometric mean of predicted/measured
/// - 1. naiveMae: one mean fraction of peak per GPU family, operation and number format, from the rows that
/// trained.
struct ValidationReport {
  std::string quantity = "time_us";
  std::size_t rows = 0, skipped = 0;
  double mae = 0, bias = 0, naiveMae = 0;
  std::vector<ValidatedGroup> groups;       // by operation, by name
  std::vector<ValidatedGroup> groupsByGpu;  // by operation, format and GPU
  std::vector<ValidatedRow> details;        // in the table's order
};

/// Predicts every row of a kernel table. Errors: those of readCsvTable and readKernelRows; a table of another
/// kind; folds of 1 or below 0; a parameter file with mistakes. All are mistakes in the input (exit code 2).
core::ResultAll<ValidationReport> validateKernels(const KernelValidationOptions& options);

/// The same on tables in memory; `fitTable` may be null, `parameterText` empty for the bundled parameters.
core::ResultAll<ValidationReport> validateKernelTable(const CsvTable& table, const CsvTable* fitTable,
                                                      const KernelValidationOptions& options);

/// Summary of chosen rows under `name`.
ValidatedGroup summarise(std::string name, const std::vector<const ValidatedRow*>& rows);

/// Table for a terminal: error per operation, format and GPU with the naive baseline, reasons of skipped
/// rows, the worst rows.
std::string validationText(const ValidationReport& report, std::size_t worstRows = 10);
/// {"summary":{...},"groups":[...],"rows":[...]}; fields are documented in the user documentation of
/// validate. Skipped rows have null for predicted and error, the others null for reason_skipped.
std::string validationJson(const ValidationReport& report);

}  // namespace vsim::app
