#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "core/scenario/reader.h"

namespace vsim::core {
namespace {

struct Unit {
  std::string_view symbol;
  std::int64_t factor;
};

constexpr std::int64_t kKi = 1024, kMi = kKi * 1024, kGi = kMi * 1024, kTi = kGi * 1024;
constexpr std::array<Unit, 8> kPrefixes{{{"Ki", kKi},
                                         {"Mi", kMi},
                                         {"Gi", kGi},
                                         {"Ti", kTi},
                                         {"k", 1000},
                                         {"M", 1'000'000},
                                         {"G", 1'000'000'000},
                                         {"T", 1'000'000'000'000}}};

using Wide = unsigned __int128;
constexpr Wide kWideLimit = static_cast<Wide>(1) << 100;

/// A decimal number kept exact: digits * 10^exponent, and the text behind it.
struct Decimal {
  Wide digits = 0;
  int exponent = 0;
  bool negative = false;
  bool tooLarge = false;  // more than 30 significant digits or an exponent beyond +-60
  std::string_view rest;
};

std::string shown(std::string_view text) {
  return std::string(text.substr(0, 40)) + (text.size() > 40 ? "..." : "");
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

// The exponent is only read where digits follow, so that no unit beginning with e is swallowed.
void readExponent(std::string_view text, std::size_t& i, Decimal& number) {
  if (i >= text.size() || (text[i] != 'e' && text[i] != 'E')) return;
  std::size_t j = i + 1;
  const bool minus = j < text.size() && text[j] == '-';
  if (j < text.size() && (text[j] == '-' || text[j] == '+')) ++j;
  if (j >= text.size() || !isDigit(text[j])) return;
  int value = 0;
  for (; j < text.size() && isDigit(text[j]); ++j) value = std::min(value * 10 + (text[j] - '0'), 10'000);
  number.exponent += minus ? -value : value;
  i = j;
}

Result<Decimal> readDecimal(std::string_view text) {
  Decimal number;
  std::size_t i = 0;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) number.negative = text[i++] == '-';
  bool any = false, point = false;
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && !point) {
      point = true;
      continue;
    }
    if (!isDigit(text[i])) break;
    any = true;
    if (number.digits > kWideLimit / 10) number.tooLarge = true;
    if (!number.tooLarge) number.digits = number.digits * 10 + static_cast<Wide>(text[i] - '0');
    if (point) --number.exponent;
  }
  if (!any) return fail(fmt::format("expected a whole number, found '{}'", shown(text)));
  readExponent(text, i, number);
  if (number.digits == 0) number.exponent = 0;
  if (number.exponent > 60 || number.exponent < -60) number.tooLarge = true;
  number.rest = text.substr(i);
  if (!number.rest.empty() && number.rest.front() == ' ') number.rest.remove_prefix(1);
  return number;
}

/// digits * 10^exponent * factor as int64, exactly.
Result<std::int64_t> scaled(const Decimal& number, std::int64_t factor, std::string_view text) {
  const auto tooLarge = [&] { return fail(fmt::format("'{}' is too large", shown(text))); };
  if (number.tooLarge || number.digits >= kWideLimit) return tooLarge();
  constexpr Wide kMax = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());
  // Powers of ten are cancelled first, so that 0.000001T stays exact without overflowing.
  Wide numerator = number.digits, denominator = 1;
  Wide scale = static_cast<Wide>(factor);
  for (int e = number.exponent; e < 0; ++e) {
    if (numerator % 10 == 0) {
      numerator /= 10;
    } else if (scale % 10 == 0) {
      scale /= 10;
    } else if (denominator <= kWideLimit) {
      denominator *= 10;
    } else {
      return fail(fmt::format("'{}' is not a whole number", shown(text)));
    }
  }
  for (int e = number.exponent; e > 0 && numerator != 0; --e) {
    if (numerator > kMax * 8) return tooLarge();
    numerator *= 10;
  }
  if (scale != 0 && numerator > (~static_cast<Wide>(0) >> 1) / scale) return tooLarge();
  numerator *= scale;
  if (numerator % denominator != 0) return fail(fmt::format("'{}' is not a whole number", shown(text)));
  if (numerator / denominator > kMax) return tooLarge();
  const auto value = static_cast<std::int64_t>(numerator / denominator);
  return number.negative ? -value : value;
}

/// Factor of the prefix at the front of `rest`, which is taken off; 1 when there is none.
std::int64_t takePrefix(std::string_view& rest) {
  for (const Unit& unit : kPrefixes)
    if (rest.starts_with(unit.symbol)) {
      rest.remove_prefix(unit.symbol.size());
      return unit.factor;
    }
  return 1;
}

tl::unexpected<Error> unknownUnit(std::string_view unit, std::string_view text) {
  std::string hint = "known: k, M, G, T, Ki, Mi, Gi, Ti";
  if (unit.starts_with('K')) hint = fmt::format("did you mean 'k{}'?", unit.substr(1));
  if (unit.starts_with('m')) hint = fmt::format("did you mean 'M{}'?", unit.substr(1));
  if (unit.starts_with('g')) hint = fmt::format("did you mean 'G{}'?", unit.substr(1));
  return fail(fmt::format("unknown unit '{}' in '{}'", shown(unit), shown(text)), hint);
}

}  // namespace

Result<std::int64_t> parseCount(std::string_view text) {
  const auto number = readDecimal(text);
  if (!number) return tl::unexpected(number.error());
  std::string_view rest = number->rest;
  const std::int64_t factor = takePrefix(rest);
  if (!rest.empty()) return unknownUnit(number->rest, text);
  return scaled(*number, factor, text);
}

}  // namespace vsim::core
