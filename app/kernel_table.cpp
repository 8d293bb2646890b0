#include "app/kernel_table.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace vsim::app {
namespace {

constexpr std::int64_t kMaximumSize = 1'000'000'000'000'000;
constexpr std::size_t kMaximumErrors = 20;
constexpr std::array<std::string_view, 8> kRequired{"row_id", "gpu", "op", "dtype", "m", "n", "k", "time_us"};

struct SizeColumn {
  std::string_view name;
  std::int64_t KernelRow::*member;
  bool shape;
};
constexpr std::array<SizeColumn, 14> kSizes{{{"m", &KernelRow::m, true},
                                             {"n", &KernelRow::n, true},
                                             {"k", &KernelRow::k, true},
                                             {"groups", &KernelRow::groups, true},
                                             {"topk", &KernelRow::topk, true},
                                             {"batch", &KernelRow::batch, true},
                                             {"seq_q", &KernelRow::queries, true},
                                             {"seq_kv", &KernelRow::keys, true},
                                             {"heads", &KernelRow::heads, true},
                                             {"kv_heads", &KernelRow::kvHeads, true},
                                             {"head_dim", &KernelRow::headDim, true},
                                             {"head_dim_v", &KernelRow::headDimValue, true},
                                             {"elements", &KernelRow::elements, true},
                                             {"bytes", &KernelRow::bytes, false}}};

struct TextColumn {
  std::string_view name;
  std::string KernelRow::*member;
};
constexpr std::array<TextColumn, 8> kTexts{{{"row_id", &KernelRow::id},
                                            {"source", &KernelRow::source},
                                            {"gpu", &KernelRow::gpu},
                                            {"op", &KernelRow::op},
                                            {"dtype", &KernelRow::format},
                                            {"library", &KernelRow::library},
                                            {"flag", &KernelRow::flag},
                                            {"note", &KernelRow::note}}};

/// FNV-1a over the eight bytes of `value`.
std::uint64_t mix(std::uint64_t hash, std::int64_t value) {
  auto bits = static_cast<std::uint64_t>(value);
  for (int i = 0; i < 8; ++i, bits >>= 8) hash = (hash ^ (bits & 0xff)) * 0x100000001b3ull;
  return hash;
}

class RowReader {
 public:
  explicit RowReader(const CsvTable& table) : table_(table) {}

  core::ResultAll<std::vector<KernelRow>> read() {
    for (const std::string_view name : kRequired)
      if (table_.column(name) < 0)
        errors_.push_back(
            {.message = fmt::format("column '{}' is missing", name),
             .file = table_.file,
             .line = 1,
             .column = 1,
             .hint = "columns of a kernel table: row_id, gpu, op, dtype, m, n, k, ..., time_us"});
    if (!errors_.empty()) return tl::unexpected(std::move(errors_));
    std::vector<KernelRow> rows;
    rows.reserve(table_.rows.size());
    for (const auto& fields : table_.rows) {
      rows.push_back(readRow(fields));
      if (errors_.size() >= kMaximumErrors) break;
    }
    if (!errors_.empty()) return tl::unexpected(std::move(errors_));
    return rows;
  }

 private:
  KernelRow readRow(const std::vector<CsvField>& fields) {
    KernelRow row;
    for (const TextColumn& text : kTexts)
      if (const CsvField* field = find(fields, text.name)) row.*text.member = field->text;
    row.shapeHash = 0xcbf29ce484222325ull;
    for (const SizeColumn& size : kSizes) {
      if (const CsvField* field = find(fields, size.name)) row.*size.member = readSize(*field, size.name);
      if (size.shape) row.shapeHash = mix(row.shapeHash, row.*size.member);
    }
    if (const CsvField* field = find(fields, "causal")) {
      const std::int64_t causal = readSize(*field, "causal");
      if (causal > 1) report(*field, "causal must be 0 or 1");
      row.causal = causal == 1;
      row.shapeHash = mix(row.shapeHash, field->text.empty() ? -1 : causal);
    }
    if (const CsvField* field = find(fields, "time_us")) row.timeUs = readTime(*field);
    return row;
  }

  const CsvField* find(const std::vector<CsvField>& fields, std::string_view name) const {
    const int column = table_.column(name);
    return column < 0 ? nullptr : &fields[static_cast<std::size_t>(column)];
  }

  void report(const CsvField& field, std::string message) {
    if (errors_.size() < kMaximumErrors)
      errors_.push_back(
          {.message = std::move(message), .file = table_.file, .line = field.line, .column = field.column});
  }

  bool number(const CsvField& field, std::string_view name, double& value) {
    const char* end = field.text.data() + field.text.size();
    const auto [stop, code] = std::from_chars(field.text.data(), end, value);
    if (code == std::errc{} && stop == end && std::isfinite(value)) return true;
    report(field, fmt::format("{}: '{:.40}' is not a finite number", name, field.text));
    return false;
  }

  std::int64_t readSize(const CsvField& field, std::string_view name) {
    double value = 0;
    if (field.text.empty() || !number(field, name, value)) return 0;
    if (value < 0 || value != std::floor(value) || value > static_cast<double>(kMaximumSize)) {
      report(field, fmt::format("{}: '{:.40}' is not an integer from 0 to 10^15", name, field.text));
      return 0;
    }
    return static_cast<std::int64_t>(value);
  }

  double readTime(const CsvField& field) {
    double value = 0;
    if (field.text.empty() || !number(field, "time_us", value)) return 0;
    if (value <= 0 || value > 1e12) report(field, fmt::format("time_us: '{:.40}' is not a time", field.text));
    return value;
  }

  const CsvTable& table_;
  core::Errors errors_;
};

bool isSeparator(char c) { return c == ';' || c == ' ' || c == ','; }

}  // namespace

std::string KernelRow::noteValue(std::string_view name) const {
  for (std::size_t at = note.find(name); at != std::string::npos; at = note.find(name, at + 1)) {
    const std::size_t equals = at + name.size();
    if ((at > 0 && !isSeparator(note[at - 1])) || equals >= note.size() || note[equals] != '=') continue;
    std::size_t end = equals + 1;
    while (end < note.size() && !isSeparator(note[end])) ++end;
    return note.substr(equals + 1, end - equals - 1);
  }
  return {};
}

bool KernelRow::noteHas(std::string_view word) const { return note.find(word) != std::string::npos; }

bool isKernelTable(const CsvTable& table) {
  int found = 0;
  for (const std::string_view name : kRequired) found += table.column(name) >= 0;
  return found == static_cast<int>(kRequired.size());
}

core::ResultAll<std::vector<KernelRow>> readKernelRows(const CsvTable& table) {
  return RowReader(table).read();
}

}  // namespace vsim::app
