#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace vsim::app {

/// One field of a CSV file and where it stands (both count from 1).
struct CsvField {
  std::string text;
  int line = 0, column = 0;
};

/// A CSV file with a header line. Every row has as many fields as the header.
struct CsvTable {
  std::string file;
  std::vector<std::string> header;
  std::vector<std::vector<CsvField>> rows;
  /// Index of the column called `name`, or -1.
  [[nodiscard]] int column(std::string_view name) const;
};

/// Parses RFC 4180 text: quoted fields may contain commas, line breaks and doubled quotes. Errors, all at
/// once up to 20, with line and column: empty text, no rows, repeated or empty column names, rows of another
/// width, unbalanced quotes, fields above 64 KiB, control characters.
core::ResultAll<CsvTable> parseCsvTable(std::string_view text, const std::string& file);

/// The same from a file of at most 256 MiB; a file that gzip compressed (".gz") is refused with a hint.
core::ResultAll<CsvTable> readCsvTable(const std::string& path);

}  // namespace vsim::app
