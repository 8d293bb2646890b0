#include "app/csv_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace vsim::app {
namespace {

constexpr std::size_t kMaximumErrors = 20;
constexpr std::size_t kMaximumField = 64 << 10;
constexpr std::uintmax_t kMaximumFile = 256u << 20;

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : text_(text) {
    table_.file = file;
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);  // byte order mark
  }

  core::ResultAll<CsvTable> parse() {
    while (position_ < text_.size() && errors_.size() < kMaximumErrors) readRecord();
    if (!haveHeader_ && errors_.empty())
      report(1, 1, "the table is empty", "a header line and rows are expected");
    else if (table_.rows.empty() && errors_.empty())
      report(line_, 1, "the table has a header but no rows");
    if (!errors_.empty()) return tl::unexpected(std::move(errors_));
    return std::move(table_);
  }

 private:
  void report(int line, int column, std::string message, std::string hint = {}) {
    if (errors_.size() >= kMaximumErrors) return;
    errors_.push_back({.message = std::move(message),
                       .file = table_.file,
                       .line = line,
                       .column = column,
                       .hint = std::move(hint)});
  }

  [[nodiscard]] bool atLineEnd() const {
    return position_ >= text_.size() || text_[position_] == '\n' ||
           (text_[position_] == '\r' && position_ + 1 < text_.size() && text_[position_ + 1] == '\n');
  }

  void endLine() {
    if (position_ < text_.size() && text_[position_] == '\r') ++position_;
    if (position_ < text_.size()) ++position_;
    ++line_;
    lineStart_ = position_;
  }

  void readRecord() {
    if (atLineEnd()) return endLine();  // blank line
    std::vector<CsvField> fields;
    while (true) {
      if (!readField(fields)) return;
      if (position_ >= text_.size() || text_[position_] != ',') break;
      ++position_;
    }
    endLine();
    haveHeader_ ? addRow(std::move(fields)) : setHeader(fields);
  }

  /// False when the rest of the text cannot be read.
  bool readField(std::vector<CsvField>& fields) {
    CsvField field{.text = {}, .line = line_, .column = static_cast<int>(position_ - lineStart_) + 1};
    if (position_ < text_.size() && text_[position_] == '"') {
      if (!readQuoted(field)) return false;
    } else {
      const std::size_t start = position_;
      while (!atLineEnd() && text_[position_] != ',') ++position_;
      field.text = text_.substr(start, position_ - start);
    }
    check(field);
    fields.push_back(std::move(field));
    return true;
  }

  bool readQuoted(CsvField& field) {
    ++position_;
    while (position_ < text_.size()) {
      const char c = text_[position_++];
      if (c == '\n') {
        ++line_;
        lineStart_ = position_;
      }
      if (c != '"') {
        field.text += c;
      } else if (position_ < text_.size() && text_[position_] == '"') {
        field.text += '"';
        ++position_;
      } else {
        if (atLineEnd() || text_[position_] == ',') return true;
        report(line_, static_cast<int>(position_ - lineStart_) + 1, "text after a closing quote");
        while (!atLineEnd() && text_[position_] != ',') ++position_;
        return true;
      }
    }
    report(field.line, field.column, "quote is never closed");
    return false;
  }

  void check(const CsvField& field) {
    if (field.text.size() > kMaximumField)
      report(field.line, field.column, fmt::format("field of {} bytes (64 KiB at most)", field.text.size()));
    const bool control = std::any_of(field.text.begin(), field.text.end(), [](unsigned char c) {
      return (c < 32 && c != '\t' && c != '\n' && c != '\r') || c == 127;
    });
    if (control) report(field.line, field.column, "control character in a field", "is this a text file?");
  }

  void setHeader(const std::vector<CsvField>& fields) {
    haveHeader_ = true;
    std::set<std::string> seen;
    for (const CsvField& field : fields) {
      if (field.text.empty())
        report(field.line, field.column, "column without a name");
      else if (!seen.insert(field.text).second)
        report(field.line, field.column, fmt::format("column '{:.60}' appears twice", field.text));
      table_.header.push_back(field.text);
    }
  }

  void addRow(std::vector<CsvField> fields) {
    if (fields.size() != table_.header.size())
      return report(fields.front().line, fields.back().column,
                    fmt::format("row has {} fields, the header {}", fields.size(), table_.header.size()));
    table_.rows.push_back(std::move(fields));
  }

  std::string_view text_;
  std::size_t position_ = 0, lineStart_ = 0;
  int line_ = 1;
  bool haveHeader_ = false;
  CsvTable table_;
  core::Errors errors_;
};

core::ResultAll<CsvTable> unreadable(const std::string& path, std::string message, std::string hint = {}) {
  return tl::unexpected(core::Errors{{.message = std::move(message), .file = path, .hint = std::move(hint)}});
}

}  // namespace

int CsvTable::column(std::string_view name) const {
  const auto it = std::find(header.begin(), header.end(), name);
  return it == header.end() ? -1 : static_cast<int>(it - header.begin());
}

core::ResultAll<CsvTable> parseCsvTable(std::string_view text, const std::string& file) {
  return Parser(text, file).parse();
}

core::ResultAll<CsvTable> readCsvTable(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return unreadable(path, "no such file");
  const auto size = std::filesystem::file_size(path, code);
  if (code || size > kMaximumFile) return unreadable(path, "table larger than 256 MiB");
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(size), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file) return unreadable(path, "cannot read the file");
  if (text.starts_with("\x1f\x8b"))
    return unreadable(path, "compressed table", "unpack it with gunzip first");
  return parseCsvTable(text, path);
}

}  // namespace vsim::app
