// Zero-shot: published training runs, simulated from their own columns. Nothing is fitted on them.

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <iostream>

#include "app/validate_runs.h"
#include "tests/support/reference.h"

using namespace vsim;

namespace {

struct Score {
  int rows = 0;
  double sum = 0, naive = 0;
  void add(const app::ValidatedRow& row) {
    ++rows;
    sum += std::abs(row.error);
    naive += std::abs(row.naive / row.measured - 1.0);
  }
  [[nodiscard]] double mae() const { return sum / rows; }
  [[nodiscard]] double naiveMae() const { return naive / rows; }
};

}  // namespace

TEST_CASE("Published H100 FSDP runs are predicted within the bar", "[app][reference]") {
  const auto text = test::referenceText("measured_runs.csv");
  if (!text) return;
  const auto table = app::parseCsvTable(*text, "measured_runs.csv");
  REQUIRE(table);
  const auto report = app::validateRunTable(*table);
  REQUIRE(report);
  const int parallelism = table->column("parallelism");
  Score h100, all;
  for (std::size_t i = 0; i < report->details.size(); ++i) {
    const app::ValidatedRow& row = report->details[i];
    if (!row.reasonSkipped.empty()) continue;
    all.add(row);
    const bool model = row.format.starts_with("MPT-") || row.format.ends_with("70B");
    const bool sharded = table->rows[i][static_cast<std::size_t>(parallelism)].text == "FSDP FULL_SHARD";
    if (!row.gpu.starts_with("H100") || !model || !sharded) continue;
    h100.add(row);
    std::cout << fmt::format(
        "{:<6} {:<15} {:<12} measured {:>8.0f} predicted {:>8.0f} error {:>+6.1f} % naive {:>+6.1f} %\n",
        row.id, row.gpu, row.format, row.measured, row.predicted, 100 * row.error,
        100 * (row.naive / row.measured - 1.0));
  }
  if (h100.rows == 0) {
    std::cout << "SKIPPED: no complete H100 rows in measured_runs.csv\n";
    return;
  }
  std::cout << fmt::format(
      "H100: {} rows, mean error {:.1f} %, constant HFU {:.1f} %; all {} rows: {:.1f} %, {:.1f} %\n",
      h100.rows, 100 * h100.mae(), 100 * h100.naiveMae(), all.rows, 100 * all.mae(), 100 * all.naiveMae());
  CHECK(h100.mae() <= 0.08);
  CHECK(h100.mae() < h100.naiveMae());
  CHECK(all.mae() < all.naiveMae());
}
