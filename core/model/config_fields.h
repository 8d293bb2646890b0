#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/model/json_document.h"

namespace vsim::core {

/// Typed access to the fields of one config object. Problems are collected, never thrown, and a field with a
/// problem yields a harmless value, so that a reader goes on and finds the next one. A name list holds the
/// field's name and its older spellings; null counts as absent.
class ConfigFields {
 public:
  using Names = std::initializer_list<const char*>;

  ConfigFields(const JsonNode& object, std::string file) : object_(object), file_(std::move(file)) {}

  /// A whole number in [1, limit] that must be there.
  std::int64_t count(Names names, std::int64_t limit);
  /// The same with a default when absent.
  std::int64_t countOr(Names names, std::int64_t limit, std::int64_t absent);
  /// A whole number in [0, limit].
  std::int64_t numberOr(Names names, std::int64_t limit, std::int64_t absent);
  bool flagOr(Names names, bool absent);
  std::string textOr(Names names, const std::string& absent);
  /// A list of whole numbers in [0, limit]; nullopt when absent.
  std::optional<std::vector<std::int64_t>> numbers(Names names, std::int64_t limit);
  /// A list of texts; nullopt when absent.
  std::optional<std::vector<std::string>> texts(Names names);
  /// A nested object, or nullptr when absent.
  const JsonNode* object(Names names);

  /// Reports a problem at a field (at the object when the field is absent).
  void error(const char* name, std::string message, std::string hint = {});

  /// Looks at what was not asked for: misspelt fields become errors, the others are returned in file order.
  std::vector<std::string> finish();
  [[nodiscard]] const Errors& errors() const { return errors_; }
  /// Whether everything asked for so far was there and possible.
  [[nodiscard]] bool sound() const { return errors_.empty() && missing_.empty(); }
  /// Fields of a nested object of the same file; give what it found back to absorb().
  [[nodiscard]] ConfigFields nested(const JsonNode& object) const { return {object, file_}; }
  void absorb(ConfigFields& nested);

 private:
  const JsonMember* find(Names names);
  const JsonMember* findTyped(Names names, JsonNode::Kind kind);
  std::int64_t checked(const JsonNode& value, const std::string& name, std::int64_t least, std::int64_t most);
  void errorAt(int line, int column, std::string message, std::string hint = {});
  [[nodiscard]] bool isUsed(const std::string& key) const;

  const JsonNode& object_;
  std::string file_;
  Errors errors_;
  std::vector<std::string> used_;     // keys of the file that were asked for
  std::vector<std::string> absent_;   // asked for, optional, not in the file
  std::vector<std::string> missing_;  // asked for, required, not in the file
};

}  // namespace vsim::core
