#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/base/units.h"
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
constexpr std::array<Unit, 6> kTimes{{{"ps", 1},
                                      {"ns", 1'000},
                                      {"us", 1'000'000},
                                      {"\u00b5s", 1'000'000},
                                      {"ms", 1'000'000'000},
                                      {"s", 1'000'000'000'000}}};

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

Result<Decimal> readDecimal(std::string_view text, std::string_view what) {
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
  if (!any) return fail(fmt::format("expected {}, found '{}'", what, shown(text)));
  readExponent(text, i, number);
  if (number.digits == 0) number.exponent = 0;
  if (number.exponent > 60 || number.exponent < -60) number.tooLarge = true;
  number.rest = text.substr(i);
  if (!number.rest.empty() && number.rest.front() == ' ') number.rest.remove_prefix(1);
  return number;
}

enum class Rounding { exact, nearest };

/// digits * 10^exponent * factor / divisor as int64.
Result<std::int64_t> scaled(const Decimal& number, std::int64_t factor, std::int64_t divisor,
                            std::string_view text, Rounding rounding) {
  const auto tooLarge = [&] { return fail(fmt::format("'{}' is too large", shown(text))); };
  if (number.tooLarge || number.digits >= kWideLimit) return tooLarge();
  constexpr Wide kMax = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());
  // Powers of ten are cancelled first, so that 0.000001T stays exact without overflowing.
  Wide numerator = number.digits, denominator = static_cast<Wide>(divisor);
  Wide scale = static_cast<Wide>(factor);
  for (int e = number.exponent; e < 0; ++e) {
    if (numerator % 10 == 0) {
      numerator /= 10;
    } else if (scale % 10 == 0) {
      scale /= 10;
    } else if (denominator <= kWideLimit) {
      denominator *= 10;
    } else if (rounding == Rounding::nearest) {
      numerator /= 10;
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
  const Wide quotient = numerator / denominator, remainder = numerator % denominator;
  if (remainder != 0 && rounding == Rounding::exact)
    return fail(fmt::format("'{}' is not a whole number", shown(text)));
  const Wide rounded = quotient + (remainder != 0 && remainder >= denominator - remainder ? 1 : 0);
  if (rounded > kMax) return tooLarge();
  const auto value = static_cast<std::int64_t>(rounded);
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

tl::unexpected<Error> unknownUnit(std::string_view unit, std::string_view text, std::string_view known) {
  std::string hint = fmt::format("known: {}", known);
  if (unit.starts_with('K')) hint = fmt::format("did you mean 'k{}'?", unit.substr(1));
  if (unit.starts_with('m')) hint = fmt::format("did you mean 'M{}'?", unit.substr(1));
  if (unit.starts_with('g')) hint = fmt::format("did you mean 'G{}'?", unit.substr(1));
  return fail(fmt::format("unknown unit '{}' in '{}'", shown(unit), shown(text)), hint);
}

}  // namespace

Result<std::int64_t> parseCount(std::string_view text) {
  const auto number = readDecimal(text, "a whole number");
  if (!number) return tl::unexpected(number.error());
  std::string_view rest = number->rest;
  const std::int64_t factor = takePrefix(rest);
  if (!rest.empty()) return unknownUnit(number->rest, text, "k, M, G, T, Ki, Mi, Gi, Ti");
  return scaled(*number, factor, 1, text, Rounding::exact);
}

Result<std::int64_t> parseBytes(std::string_view text) {
  const auto number = readDecimal(text, "a size such as 80GiB");
  if (!number) return tl::unexpected(number.error());
  std::string_view rest = number->rest;
  const std::int64_t factor = takePrefix(rest);
  if (!rest.empty() && rest != "B" && rest != "b")
    return unknownUnit(number->rest, text, "B and b after k, M, G, T, Ki, Mi, Gi, Ti");
  return scaled(*number, factor, rest == "b" ? 8 : 1, text, Rounding::exact);
}

Result<double> parseBytesPerSecond(std::string_view text) {
  const auto number = readDecimal(text, "a rate such as 400Gb/s");
  if (!number) return tl::unexpected(number.error());
  std::string_view rest = number->rest;
  const std::int64_t factor = takePrefix(rest);
  if (rest != "B/s" && rest != "b/s")
    return unknownUnit(number->rest, text, "b/s and B/s after k, M, G, T, Ki, Mi, Gi, Ti");
  if (number->tooLarge) return fail(fmt::format("'{}' is too large", shown(text)));
  const double value = static_cast<double>(number->digits) * std::pow(10.0, number->exponent) *
                       static_cast<double>(factor) / (rest == "b/s" ? 8.0 : 1.0);
  return number->negative ? -value : value;
}

Result<std::int64_t> parseDuration(std::string_view text) {
  const auto number = readDecimal(text, "a time such as 2us");
  if (!number) return tl::unexpected(number.error());
  for (const Unit& unit : kTimes)
    if (number->rest == unit.symbol) return scaled(*number, unit.factor, 1, text, Rounding::nearest);
  if (number->rest.empty() && number->digits == 0) return 0;
  if (number->rest.empty())
    return fail(fmt::format("'{}' has no unit", shown(text)), "known: ps, ns, us, ms, s");
  return fail(fmt::format("unknown unit '{}' in '{}'", shown(number->rest), shown(text)),
              "known: ps, ns, us, ms, s");
}

}  // namespace vsim::core
