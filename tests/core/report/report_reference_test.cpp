#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "core/report/report.h"
#include "tests/support/reference.h"

namespace vsim::core {
namespace {

double number(const test::CsvRow& row, const char* column) {
  const auto found = row.find(column);
  return found == row.end() ? 0 : std::strtod(found->second.c_str(), nullptr);
}

/// The HFU that the table's note quotes from the source, in percent; 0 when it quotes none.
double quotedHfu(const test::CsvRow& row) {
  const std::string& note = row.at("note");
  const std::size_t at = note.find("HFU ");
  return at == std::string::npos ? 0 : std::strtod(note.c_str() + at + 4, nullptr);
}

}  // namespace

TEST_CASE("Published MFU and HFU of the H100 MPT runs follow from their throughput") {
  const auto text = test::referenceText("measured_runs.csv");
  if (!text) return;
  int rows = 0;
  for (const test::CsvRow& row : test::parseCsv(*text)) {
    if (!row.at("gpu").starts_with("H100") || !row.at("model").starts_with("MPT-")) continue;
    if (number(row, "mfu_pct") <= 0 || number(row, "d_model") <= 0) continue;
    ++rows;
    RunFacts facts;
    facts.gpus = 1;
    facts.parameters = facts.activeParameters = static_cast<std::int64_t>(number(row, "params_b") * 1e9);
    facts.layers = static_cast<std::int64_t>(number(row, "n_layers"));
    facts.heads = static_cast<std::int64_t>(number(row, "n_heads"));
    facts.headDim = static_cast<std::int64_t>(number(row, "d_model")) / facts.heads;
    facts.sequence = static_cast<std::int64_t>(number(row, "seq_len"));
    // Full checkpointing runs the whole forward again: a third of forward and backward together.
    if (row.at("activation_checkpointing") == "full")
      facts.recomputeFlopsPerToken = modelFlopsPerToken(facts) / 3;
    facts.tokensPerStep = 1'000'000'000;
    HardwareFacts hardware;
    hardware.peakFlops = row.at("precision") == "fp8" ? 1978.9e12 : 989.4e12;

    ExecutionLog log;
    log.program = std::make_shared<const StepProgram>();
    RankLog ranks;
    ranks.stepBegin = {0};
    ranks.stepEnd = {picosecondsFromSeconds(1e9 / number(row, "tokens_per_s_per_gpu"))};
    log.ranks = {ranks};
    const RunReport report = makeReport(log, facts, hardware);
    INFO(row.at("row_id"));
    CHECK(report.mfu * 100 == Approx(number(row, "mfu_pct")).epsilon(5e-4));
    if (quotedHfu(row) > 0) CHECK(report.hfu * 100 == Approx(quotedHfu(row)).epsilon(5e-4));
  }
  fmt::print("{} published runs compared\n", rows);
  CHECK(rows > 0);
}

}  // namespace vsim::core
