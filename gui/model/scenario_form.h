#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/scenario/scenario.h"

namespace vsim::gui {

/// One value of a scenario that the form shows.
struct FormField {
  enum class Kind { count, choice, word, systems };
  std::string key;    // dotted, as --set takes it
  std::string label;  // "FSDP ranks"
  std::string help;   // one sentence, units
  Kind kind = Kind::count;
  std::vector<std::string> choices{};  // of a choice; suggestions of a word; names of systems
};

/// The fields in their order, parted by headings: "Cluster", "Parallelism" ...
struct FormGroup {
  std::string title;
  std::vector<FormField> fields;
};
[[nodiscard]] const std::vector<FormGroup>& formGroups();

/// What the scenario means for a field, defaults included: "1024", "adamw", "vescale, fsdp2".
[[nodiscard]] std::string fieldValue(const core::Scenario& scenario, const std::string& key);

/// What the text itself says for the keys of the form, as written ("4Ki"); what it leaves out is missing.
/// Nothing where the text is no YAML.
[[nodiscard]] std::map<std::string, std::string> writtenValues(std::string_view text);

/// The scenario's text with one value changed, everything else (comments, order) as it was. The value is
/// replaced where it stands, or added to its section; a missing section is added at the end. Errors: the text
/// is no YAML, or it is written in a way that only its author can change (anchors, lists over several lines).
[[nodiscard]] core::Result<std::string> withField(std::string_view text, const std::string& key,
                                                  const std::string& value);

}  // namespace vsim::gui
