#include "gui/model/data_table.h"

namespace vsim::gui {
namespace {

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string text = "\"";
  for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

void appendRow(std::string& text, const std::vector<std::string>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) text += (i == 0 ? "" : ",") + quoted(fields[i]);
  text += "\r\n";
}

}  // namespace

std::string toCsv(const DataTable& table) {
  std::string text;
  appendRow(text, table.header);
  for (const auto& row : table.rows) appendRow(text, row);
  return text;
}

}  // namespace vsim::gui
