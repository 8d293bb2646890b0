#include "app/validate_kernels.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "app/kernel_table.h"

using namespace vsim;

namespace {

const std::string kHeader =
    "row_id,source,gpu,op,dtype,m,n,k,groups,topk,elements,bytes,time_us,library,flag,note\n";

std::string gemmRow(const std::string& id, const std::string& sizes, const std::string& time,
                    const std::string& flag = {}) {
  return id + ",s,H100-SXM,gemm,bf16," + sizes + ",,,,," + time + ",cuBLASLt," + flag + ",\n";
}

core::ResultAll<app::ValidationReport> validateText(const std::string& text,
                                                    const app::KernelValidationOptions& options = {}) {
  auto table = app::parseCsvTable(text, "t.csv");
  if (!table) return tl::unexpected(table.error());
  return app::validateKernelTable(*table, nullptr, options);
}

core::Errors errorsOf(const std::string& text) {
  auto result = validateText(text);
  REQUIRE_FALSE(result);
  REQUIRE_FALSE(result.error().empty());
  return result.error();
}

}  // namespace

TEST_CASE("malformed tables are answered with file, line and column") {
  CHECK(errorsOf("").front().text().starts_with("t.csv:1:1: "));
  CHECK(errorsOf("\n\n").front().message.find("empty") != std::string::npos);
  CHECK(errorsOf(kHeader).front().message.find("no rows") != std::string::npos);
  CHECK(errorsOf("a,b,c\n1,2,3\n").size() == 8);  // every column that is missing
  CHECK(errorsOf("a,a\n1,2\n").front().column == 3);
  CHECK(errorsOf("a,,b\n1,2,3\n").front().column == 3);

  const core::Errors wrong = errorsOf(kHeader + gemmRow("r1", "12x,4096,4096", "1") +
                                      gemmRow("r2", "1,-5,4096", "1") + gemmRow("r3", "1,1.5,4096", "-3"));
  REQUIRE(wrong.size() == 4);
  CHECK(wrong[0].text().starts_with("t.csv:2:25: m: '12x'"));
  CHECK(wrong[1].line == 3);
  CHECK(wrong[2].line == 4);
  CHECK(wrong[3].message.find("time_us") != std::string::npos);
  for (const char* bad : {"1e30", "nan", "inf", "1e400", "0x10", " 5", "5 "})
    CHECK(errorsOf(kHeader + gemmRow("r", std::string(bad) + ",1,1", "1")).front().line == 2);
  for (const char* bad : {"0", "nan", "-1", "1e13", "abc"})
    CHECK(errorsOf(kHeader + gemmRow("r", "1,1,1", bad)).front().line == 2);
}

TEST_CASE("rows, quotes and garbage") {
  CHECK(errorsOf(kHeader + "r1,too,short\n").front().line == 2);
  CHECK(errorsOf(kHeader + "\"never closed\n").front().message.find("never closed") != std::string::npos);
  CHECK(errorsOf(kHeader + "\"r\"x,s\n").front().message.find("closing quote") != std::string::npos);
  CHECK(errorsOf(kHeader + gemmRow(std::string(100'000, 'x'), "1,1,1", "1")).front().message.find("64 KiB") !=
        std::string::npos);
  CHECK(errorsOf(std::string("\x00\x01\x02\xff\n\x03", 6)).size() >= 1);
  CHECK(errorsOf(std::string(1 << 20, ',')).size() <= 20);
  CHECK_FALSE(app::readCsvTable("/no/such/table.csv"));
  CHECK_FALSE(app::readCsvTable("/"));
  auto quoted = app::parseCsvTable("a,b\r\n\"x, \"\"y\"\"\nz\",2\r\n", "q");
  REQUIRE(quoted);
  CHECK(quoted->rows[0][0].text == "x, \"y\"\nz");
}

TEST_CASE("rows that cannot be scored say why") {
  const auto report = validateText(
      kHeader + gemmRow("ok", "4096,4096,4096", "200") +
      gemmRow("flagged", "4096,4096,4096", "200", "flat_data") +
      gemmRow("cached", "4096,4096,4096", "200", "l2") + gemmRow("untimed", "4096,4096,4096", "") +
      gemmRow("shapeless", ",4096,4096", "5") + "gpu,s,Z9000,gemm,bf16,1,1,1,,,,,5,x,,\n" +
      "type,s,H100-SXM,gemm,int3,1,1,1,,,,,5,x,,\n" + "op,s,H100-SXM,teleport,bf16,1,1,1,,,,,5,x,,\n");
  REQUIRE(report);
  CHECK(report->rows == 2);
  CHECK(report->skipped == 6);
  CHECK(report->details[1].reasonSkipped == "flag flat_data");
  CHECK(report->details[3].reasonSkipped == "no measured time");
  CHECK(report->details[5].reasonSkipped.find("Z9000") != std::string::npos);
  CHECK(report->details[6].reasonSkipped.find("int3") != std::string::npos);

  const auto json = nlohmann::json::parse(app::validationJson(*report));
  CHECK(json["summary"]["rows"] == 2);
  CHECK(json["summary"]["skipped"] == 6);
  for (const char* key : {"mae", "bias", "naive_mae"}) CHECK(json["summary"][key].is_number());
  REQUIRE(json["groups"].size() == 1);
  CHECK(json["groups"][0]["group"] == "gemm");
  REQUIRE(json["rows"].size() == 8);
  CHECK(json["rows"][0]["quantity"] == "time_us");
  CHECK(json["rows"][0]["measured"] == 200.0);
  const double predicted = json["rows"][0]["predicted"];
  CHECK(json["rows"][0]["error"] == Approx(predicted / 200 - 1));
  CHECK(json["rows"][0]["reason_skipped"].is_null());
  CHECK(json["rows"][1]["predicted"].is_null());
  CHECK(json["rows"][1]["error"].is_null());
  CHECK(app::validationText(*report).find("flag flat_data") != std::string::npos);
}

TEST_CASE("tables without a usable row give an empty report") {
  const auto report = validateText(kHeader + gemmRow("a", "1,1,1", "", ""));
  REQUIRE(report);
  CHECK(report->rows == 0);
  CHECK(report->mae == 0);
  CHECK(nlohmann::json::parse(app::validationJson(*report))["groups"].empty());
  CHECK_FALSE(validateText(kHeader + gemmRow("a", "1,1,1", "1"), {.folds = 1}));
  CHECK_FALSE(validateText(kHeader + gemmRow("a", "1,1,1", "1"), {.folds = -2}));
}

TEST_CASE("extreme but valid sizes stay finite") {
  const auto report =
      validateText(kHeader + gemmRow("a", "1000000000000000,1000000000000000,1000000000000000", "1") +
                   gemmRow("b", "1,1,1", "1000000000000"));
  REQUIRE(report);
  CHECK(std::isfinite(report->mae));
  CHECK(nlohmann::json::parse(app::validationJson(*report))["rows"].size() == 2);
}

TEST_CASE("cross-validation keeps rows of one shape together and does not depend on threads") {
  std::string text = kHeader;
  for (int i = 1; i <= 40; ++i) {
    const std::string size = std::to_string(512 + 128 * (i % 20));
    text += gemmRow("r" + std::to_string(i), size + ",4096,4096", std::to_string(20 + 5 * (i % 20)));
  }
  auto table = app::parseCsvTable(text, "t");
  auto rows = app::readKernelRows(*table);
  REQUIRE(rows);
  CHECK((*rows)[0].shapeHash == (*rows)[20].shapeHash);
  CHECK((*rows)[0].shapeHash != (*rows)[1].shapeHash);
  const auto one = validateText(text, {.folds = 4, .threads = 1});
  const auto three = validateText(text, {.folds = 4, .threads = 3});
  REQUIRE(one);
  REQUIRE(three);
  CHECK(app::validationJson(*one) == app::validationJson(*three));
}
