#include "app/validate_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <thread>

#include "app/fit_kernels.h"
#include "app/kernel_cases.h"
#include "app/kernel_table.h"
#include "sim/compute/kernel_model.h"

namespace vsim::app {
namespace {

/// Rows of a table as cases; `index` maps a case to its row.
struct Cases {
  std::vector<KernelCase> cases;
  std::vector<std::size_t> index;
};

core::ResultAll<std::vector<KernelRow>> rowsOf(const CsvTable& table) {
  auto rows = readKernelRows(table);
  if (rows || isKernelTable(table)) return rows;
  rows.error().front().message += "; this is not a table of kernel times";
  return rows;
}

Cases usable(const std::vector<KernelRow>& rows, std::vector<ValidatedRow>* details) {
  Cases result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto kernel = kernelCase(rows[i]);
    if (details) {
      ValidatedRow& row = details->emplace_back();
      row = {.id = rows[i].id,
             .group = rows[i].op,
             .gpu = rows[i].gpu,
             .family = kernel ? kernel->family : std::string(),
             .format = rows[i].format,
             .library = rows[i].library,
             .measured = rows[i].timeUs,
             .reasonSkipped = kernel ? std::string() : kernel.error().message};
    }
    if (!kernel) continue;
    result.cases.push_back(std::move(*kernel));
    result.index.push_back(i);
  }
  return result;
}

/// Mean fraction of peak by family, operation and format, with wider groups for what training lacks.
class NaiveModel {
 public:
  void train(const KernelCase& kernel) {
    const double fraction = kernel.work / kernel.peak / kernel.measured;
    for (const std::string& key : keys(kernel)) {
      auto& [sum, count] = fractions_[key];
      sum += fraction;
      count += 1;
    }
  }
  [[nodiscard]] double seconds(const KernelCase& kernel) const {
    for (const std::string& key : keys(kernel))
      if (const auto it = fractions_.find(key); it != fractions_.end())
        return kernel.work / kernel.peak / (it->second.first / it->second.second);
    return kernel.work / kernel.peak / 0.5;
  }

 private:
  static std::vector<std::string> keys(const KernelCase& kernel) {
    return {kernel.family + "|" + kernel.op + "|" + kernel.format, kernel.op + "|" + kernel.format, kernel.op,
            "all"};
  }
  std::map<std::string, std::pair<double, double>> fractions_;
};

int threadsFor(const KernelValidationOptions& options) {
  if (options.threads > 0) return options.threads;
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 64u));
}

/// Predicted and naive seconds of each case of `test`, every case by parameters fitted without its fold.
struct Predictions {
  std::vector<double> model, naive;
};
Predictions crossValidated(const Cases& test, const Cases& extra, const KernelValidationOptions& options) {
  Predictions result;
  result.model = crossValidate(test.cases, extra.cases, options.folds, threadsFor(options));
  const auto folds = static_cast<std::uint64_t>(options.folds);
  std::vector<NaiveModel> naive(static_cast<std::size_t>(folds));
  for (std::size_t fold = 0; fold < folds; ++fold)
    for (const std::vector<KernelCase>* list : {&test.cases, &extra.cases})
      for (const KernelCase& kernel : *list)
        if (kernel.shapeHash % folds != fold) naive[fold].train(kernel);
  for (const KernelCase& kernel : test.cases)
    result.naive.push_back(naive[kernel.shapeHash % folds].seconds(kernel));
  return result;
}

Predictions predicted(const Cases& test, const Cases& training, const sim::KernelParameters& parameters) {
  Predictions result;
  NaiveModel naive;
  for (const KernelCase& kernel : training.cases.empty() ? test.cases : training.cases) naive.train(kernel);
  for (const KernelCase& kernel : test.cases) {
    result.model.push_back(BoundCase(kernel, parameters).seconds());
    result.naive.push_back(naive.seconds(kernel));
  }
  return result;
}

core::ResultAll<Predictions> predictAll(const Cases& test, const Cases& training,
                                        const KernelValidationOptions& options) {
  if (options.folds > 0) return crossValidated(test, training, options);
  if (!training.cases.empty()) {
    std::vector<const KernelCase*> all;
    for (const KernelCase& kernel : training.cases) all.push_back(&kernel);
    return predicted(test, training, fitKernels(all));
  }
  auto parameters = sim::KernelModel::loadParameters(options.parameters);
  if (!parameters) return tl::unexpected(core::Errors{parameters.error()});
  return predicted(test, training, *parameters);
}

void addGroups(ValidationReport& report) {
  std::map<std::string, std::vector<const ValidatedRow*>> byOperation, byGpu;
  std::vector<const ValidatedRow*> all;
  for (const ValidatedRow& row : report.details) {
    if (!row.reasonSkipped.empty()) continue;
    all.push_back(&row);
    byOperation[row.group].push_back(&row);
    byGpu[row.group + " " + row.format + " " + row.gpu].push_back(&row);
  }
  for (const auto& [name, rows] : byOperation) report.groups.push_back(summarise(name, rows));
  for (const auto& [name, rows] : byGpu) report.groupsByGpu.push_back(summarise(name, rows));
  const ValidatedGroup summary = summarise("all", all);
  report.rows = all.size();
  report.skipped = report.details.size() - all.size();
  report.mae = summary.mae;
  report.bias = summary.bias;
  report.naiveMae = summary.naiveMae;
}

}  // namespace

ValidatedGroup summarise(std::string name, const std::vector<const ValidatedRow*>& rows) {
  ValidatedGroup group{.name = std::move(name), .rows = rows.size()};
  if (rows.empty()) return group;
  std::vector<double> errors;
  double logRatio = 0;
  for (const ValidatedRow* row : rows) {
    errors.push_back(std::abs(row->error));
    group.mae += std::abs(row->error);
    group.naiveMae += std::abs(row->naive / row->measured - 1);
    logRatio += std::log(row->predicted / row->measured);
  }
  const auto count = static_cast<double>(rows.size());
  group.mae /= count;
  group.naiveMae /= count;
  group.bias = std::exp(logRatio / count) - 1;
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  group.medianError = *middle;
  return group;
}

core::ResultAll<ValidationReport> validateKernelTable(const CsvTable& table, const CsvTable* fitTable,
                                                      const KernelValidationOptions& options) {
  if (options.folds < 0 || options.folds == 1 || options.folds > 1000)
    return tl::unexpected(core::Errors{{.message = fmt::format("folds: {} is not possible", options.folds),
                                        .hint = "2 to 1000, or 0 for none"}});
  auto rows = rowsOf(table);
  if (!rows) return tl::unexpected(std::move(rows.error()));
  Cases training;
  if (fitTable) {
    auto fitRows = rowsOf(*fitTable);
    if (!fitRows) return tl::unexpected(std::move(fitRows.error()));
    training = usable(*fitRows, nullptr);
    if (training.cases.empty())
      return tl::unexpected(
          core::Errors{{.message = "no row can be used for a fit", .file = fitTable->file}});
  }
  ValidationReport report;
  const Cases test = usable(*rows, &report.details);
  auto predictions = predictAll(test, training, options);
  if (!predictions) return tl::unexpected(std::move(predictions.error()));
  for (std::size_t i = 0; i < test.cases.size(); ++i) {
    ValidatedRow& row = report.details[test.index[i]];
    row.predicted = predictions->model[i] * 1e6;
    row.naive = predictions->naive[i] * 1e6;
    row.error = row.predicted / row.measured - 1;
  }
  addGroups(report);
  return report;
}

core::ResultAll<ValidationReport> validateKernels(const KernelValidationOptions& options) {
  auto table = readCsvTable(options.table);
  if (!table) return tl::unexpected(std::move(table.error()));
  if (options.fitTable.empty()) return validateKernelTable(*table, nullptr, options);
  auto fitTable = readCsvTable(options.fitTable);
  if (!fitTable) return tl::unexpected(std::move(fitTable.error()));
  return validateKernelTable(*table, &*fitTable, options);
}

}  // namespace vsim::app
