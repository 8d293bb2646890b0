#pragma once

#include "app/validate_kernels.h"

namespace vsim::app {

/// `vsim validate TABLE`: the columns of the table say what it is; tables of kernel times and of training
/// runs are known. Errors: those of the readers; a table of another kind (all are mistakes in the input, exit
/// code 2).
core::ResultAll<ValidationReport> validate(const KernelValidationOptions& options);

}  // namespace vsim::app
