#include "app/validate.h"

#include "app/validate_runs.h"

namespace vsim::app {

core::ResultAll<ValidationReport> validate(const KernelValidationOptions& options) {
  auto table = readCsvTable(options.table);
  if (!table) return tl::unexpected(table.error());
  if (!isRunTable(*table)) return validateKernels(options);
  if (!options.fitTable.empty() || options.folds > 0)
    return tl::unexpected(core::Errors{{.message = "nothing is fitted on tables of training runs",
                                        .file = options.table,
                                        .hint = "leave out --fit and --folds"}});
  return validateRunTable(*table);
}

}  // namespace vsim::app
