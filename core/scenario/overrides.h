#pragma once

#include <string>

#include "core/base/error.h"
#include "core/scenario/document.h"

namespace vsim::core {

/// A new root in which `dottedKey` has `value`; everything else is shared with `root`. Missing maps are made.
/// A number names an item of a list ("systems.0.prefetch"); an item that is a plain name becomes {name: ...}.
/// Choosing a model's `preset` or `hf_config` replaces the model as it was. `keyPlace` is where the key was
/// written. Errors: an empty key or part, a number beyond the list, a key below a plain value.
Result<const Node*> withValue(Document& document, const Node& root, const std::string& dottedKey,
                              const Node& value, const Place& keyPlace);

/// The value at `dottedKey`, null when there is none.
const Node* valueAt(const Node& root, const std::string& dottedKey);

}  // namespace vsim::core
