#include "app/plan_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "core/base/checked.h"
#include "core/model/json_document.h"
#include "core/plan/verifier.h"

namespace vsim::app {
namespace {

using namespace core;
using Kind = JsonNode::Kind;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{256} << 20;
constexpr std::size_t kMostValues = 20'000'000;
constexpr std::size_t kMostErrors = 20;
constexpr std::int64_t kDefaultAlign = 8;

class Reader {
 public:
  Reader(std::string file, std::int64_t align)
      : file_(std::move(file)), align_(align > 0 ? align : kDefaultAlign) {}

  ResultAll<std::vector<PlannedProblem>> read(const JsonNode& root) {
    if (const JsonNode* instances = list(root, "instances", "the file"))
      for (const JsonNode& instance : instances->items) {
        if (errors_.size() >= kMostErrors) break;
        readInstance(instance);
      }
    if (errors_.empty() && problems_.empty()) report(root, "no instances to plan");
    if (!errors_.empty()) return tl::unexpected(std::move(errors_));
    return std::move(problems_);
  }

 private:
  void report(const JsonNode& at, std::string message) {
    if (errors_.size() < kMostErrors)
      errors_.push_back({.message = std::move(message), .file = file_, .line = at.line, .column = at.column});
  }

  /// The list under `key` of an object; reports what is missing or of another kind.
  const JsonNode* list(const JsonNode& node, std::string_view key, std::string_view owner) {
    if (node.kind != Kind::object) {
      report(node, fmt::format("{} must be an object, not {}", owner, describe(node.kind)));
      return nullptr;
    }
    const JsonMember* member = node.find(key);
    if (!member) {
      report(node, fmt::format("{} has no \"{}\"", owner, key));
      return nullptr;
    }
    if (member->value.kind == Kind::array) return &member->value;
    report(member->value, fmt::format("\"{}\" must be a list, not {}", key, describe(member->value.kind)));
    return nullptr;
  }

  /// A whole number from `least` on; nullopt and a report for anything else.
  std::optional<std::int64_t> whole(const JsonNode& node, std::string_view what, std::int64_t least) {
    if (node.kind == Kind::integer && node.integer >= least) return node.integer;
    if (node.kind == Kind::integer)
      report(node, fmt::format("{} is {}, must be {} or more", what, node.integer, least));
    else if (node.kind == Kind::real)
      report(node, fmt::format("{}: {:.40} is not a whole number below 2^63", what, node.text));
    else
      report(node, fmt::format("{} must be a number, not {}", what, describe(node.kind)));
    return std::nullopt;
  }

  std::string name(const JsonNode& node, std::string otherwise) {
    const JsonMember* member = node.find("name");
    if (!member) return otherwise;
    if (member->value.kind == Kind::string) return member->value.text;
    report(member->value, fmt::format("\"name\" must be text, not {}", describe(member->value.kind)));
    return otherwise;
  }

  void readInstance(const JsonNode& node) {
    const std::size_t errorsBefore = errors_.size();
    const JsonNode* tensors = list(node, "tensors", "an instance");
    if (!tensors) return;
    PlannedProblem planned;
    planned.name = name(node, fmt::format("instance {}", ++instances_));
    planned.line = node.line;
    planned.column = node.column;
    planned.problem.unit = planned.problem.align = align_;
    for (const JsonNode& tensor : tensors->items) {
      if (errors_.size() >= kMostErrors) return;
      readTensor(tensor, planned.problem);
    }
    const std::vector<std::int64_t> devices = devicesOf(node);
    if (errors_.size() != errorsBefore) return;
    for (const std::int64_t m : devices) {
      planned.problem.devices = m;
      if (const auto error = problemError(planned.problem)) {
        report(node, fmt::format("\"{}\": {}", planned.name, error->message));
        return;
      }
      problems_.push_back(planned);
    }
  }

  std::vector<std::int64_t> devicesOf(const JsonNode& node) {
    if (const JsonMember* m = node.find("m")) {
      const auto devices = whole(m->value, "\"m\"", 1);
      return devices ? std::vector{*devices} : std::vector<std::int64_t>{};
    }
    std::vector<std::int64_t> result;
    const JsonMember* cases = node.find("cases");
    if (!cases) {
      report(node, "an instance has neither \"m\" nor \"cases\"");
      return result;
    }
    if (cases->value.kind != Kind::array) {
      report(cases->value, fmt::format("\"cases\" must be a list, not {}", describe(cases->value.kind)));
      return result;
    }
    for (const JsonNode& each : cases->value.items) {
      const JsonMember* m = each.find("m");
      if (!m) {
        report(each, "neither the instance nor this case has \"m\"");
        continue;
      }
      const auto devices = whole(m->value, "\"m\"", 1);
      if (devices && std::find(result.begin(), result.end(), *devices) == result.end())
        result.push_back(*devices);
    }
    if (result.empty() && cases->value.items.empty()) report(cases->value, "\"cases\" is empty");
    return result;
  }

  void readTensor(const JsonNode& node, LayoutProblem& problem) {
    if (node.kind != Kind::object)
      return report(node, fmt::format("a tensor must be an object, not {}", describe(node.kind)));
    PlanTensor tensor;
    tensor.name = name(node, fmt::format("tensor {}", problem.tensors.size() + 1));
    std::optional<std::int64_t> product;
    const JsonMember* shape = node.find("shape");
    if (shape) {
      if (shape->value.kind != Kind::array)
        return report(shape->value,
                      fmt::format("\"shape\" must be a list, not {}", describe(shape->value.kind)));
      product = 1;
      for (const JsonNode& item : shape->value.items) {
        const auto size = whole(item, "a size", 0);
        if (!size) return;
        tensor.shape.push_back(*size);
        product = product ? checkedMultiply(*product, *size) : product;
      }
      if (!product) return report(shape->value, "the shape has more than 2^63 elements");
    }
    if (const JsonMember* elements = node.find("elements")) {
      const auto count = whole(elements->value, "\"elements\"", 0);
      if (!count) return;
      if (product && *product != *count)
        return report(elements->value, fmt::format("{} elements, but the shape has {}", *count, *product));
      tensor.elements = *count;
      if (!product) tensor.shape = {*count};
    } else if (product) {
      tensor.elements = *product;
    } else {
      return report(node, "a tensor has neither \"shape\" nor \"elements\"");
    }
    if (const JsonMember* block = node.find("block")) {
      const auto size = whole(block->value, "\"block\"", 1);
      if (!size) return;
      tensor.block = *size;
    }
    problem.tensors.push_back(std::move(tensor));
  }

  std::string file_;
  std::int64_t align_;
  std::size_t instances_ = 0;
  std::vector<PlannedProblem> problems_;
  Errors errors_;
};

double clockSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ResultAll<std::string> readText(const std::string& path) {
  const auto refuse = [&](std::string message, std::string hint = {}) {
    return tl::unexpected(Errors{{.message = std::move(message), .file = path, .hint = std::move(hint)}});
  };
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return refuse("no such file");
  const auto size = std::filesystem::file_size(path, code);
  if (code || size > kMostBytes) return refuse("larger than 256 MiB");
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(size), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file) return refuse("cannot read the file");
  if (text.starts_with("\x1f\x8b")) return refuse("compressed", "unpack it with gunzip first");
  return text;
}

}  // namespace

ResultAll<std::vector<PlannedProblem>> parseProblems(std::string_view json, const std::string& file,
                                                     std::int64_t align) {
  const auto root = parseJson(json, file, kMostValues);
  if (!root) return tl::unexpected(root.error());
  return Reader(file, align).read(*root);
}

ResultAll<std::vector<PlannedProblem>> planProblems(const std::string& path, const PlanOptions& options) {
  auto problems = readText(path).and_then(
      [&](const std::string& text) { return parseProblems(text, path, options.align); });
  if (!problems) return problems;
  for (PlannedProblem& planned : *problems) {
    const auto refuse = [&](const std::string& why) {
      return tl::unexpected(Errors{{.message = fmt::format("\"{}\": {}", planned.name, why),
                                    .file = path,
                                    .line = planned.line,
                                    .column = planned.column}});
    };
    const BucketPlanOptions budget{.searchOrder = options.searchOrder,
                                   .seconds = options.budgetMilliseconds * 1e-3,
                                   .now = clockSeconds};
    auto plans = planBuckets({&planned.problem, 1}, budget);
    if (!plans) return refuse(plans.error().message);
    planned.found = std::move(plans->front().found);
    planned.seconds = plans->front().seconds;
    if (const Errors errors = verifyLayout(planned.problem, planned.found.layout); !errors.empty())
      return refuse(errors.front().message);
  }
  return problems;
}

}  // namespace vsim::app
