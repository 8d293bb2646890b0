#pragma once

#include "app/validate_kernels.h"

namespace vsim::app {

/// `vsim validate TABLE` on a table of published training runs (columns of a run: gpu, n_gpus, model sizes,
/// batch, parallelism, tokens_per_s_per_gpu). Nothing is fitted: each run is simulated from its own columns
/// and from what is known of its framework's kernels.

/// True when the columns are those of training runs.
bool isRunTable(const CsvTable& table);

/// Predicts tokens/s/GPU of every row that states what a simulation needs and whose parallelism vsim
/// simulates; the others carry the reason. group: the framework. naive: one constant HFU per GPU (mean of the
/// table's rows). FSDP1 rows are simulated with FSDP2's schedule. Errors: columns that are missing, numbers
/// that are none.
core::ResultAll<ValidationReport> validateRunTable(const CsvTable& table);

}  // namespace vsim::app
