#include "core/scenario/reader.h"

#include <filesystem>
#include <optional>

#include "core/scenario/document.h"
#include "core/scenario/overrides.h"
#include "core/scenario/section.h"
#include "core/scenario/sections.h"
#include "core/scenario/sweep.h"

namespace vsim::core {
namespace {

std::vector<std::string> settingsOf(const ReadOptions& options) {
  std::vector<std::string> settings;
  for (const auto& [key, value] : options.overrides) settings.push_back(key + "=" + value);
  return settings;
}

/// A parsed file with the --set values in place; reads scenarios from it.
class ScenarioText {
 public:
  ScenarioText(const std::string& path, const ReadOptions& options)
      : path_(path), options_(options), problems_(path, settingsOf(options)) {}

  /// False when there is no document to go on with.
  bool load(std::string_view text) {
    const auto root = parseDocument(text, path_, document_);
    if (!root) {
      for (const Error& error : root.error()) problems_.add(error);
      return false;
    }
    root_ = *root;
    for (std::size_t i = 0; i < options_.overrides.size(); ++i) applySetting(i);
    axes_ = readAxes(problems_, valueAt(*root_, "sweep"));
    return true;
  }

  /// The scenario itself; what only the sweep gives takes its first value.
  Scenario base() {
    const Node* root = root_;
    for (const SweepAxis& axis : axes_)
      if (!valueAt(*root, axis.key)) root = with(*root, axis, 0);
    return interpret(*root);
  }

  std::vector<Scenario> points() {
    std::vector<Scenario> result;
    const std::size_t count = pointCount(axes_);
    for (std::size_t index = 0; index < count; ++index) {
      const auto choice = pointAt(axes_, index);
      const Node* root = root_;
      for (std::size_t i = 0; i < axes_.size(); ++i) root = with(*root, axes_[i], choice[i]);
      Scenario scenario = interpret(*root);
      for (std::size_t i = 0; i < axes_.size(); ++i)
        scenario.overrides.emplace_back(axes_[i].key, axes_[i].written[choice[i]]);
      if (problems_.full()) break;
      if (problems_.none()) result.push_back(std::move(scenario));
    }
    return result;
  }

  [[nodiscard]] bool right() const { return problems_.none(); }
  tl::unexpected<Errors> failure() { return tl::unexpected(problems_.take()); }

 private:
  void applySetting(std::size_t index) {
    const auto& [key, value] = options_.overrides[index];
    const Place place{0, 0, static_cast<int>(index) + 1};
    const auto node = parseOverride(value, place.source, document_);
    if (!node) {
      problems_.add(place, node.error().message, node.error().hint);
      return;
    }
    const auto root = withValue(document_, *root_, key, **node, place);
    if (root)
      root_ = *root;
    else
      problems_.add(place, root.error().message, root.error().hint);
  }

  const Node* with(const Node& root, const SweepAxis& axis, std::size_t value) {
    const auto changed = withValue(document_, root, axis.key, *axis.values[value], axis.place);
    if (changed) return *changed;
    problems_.add(axis.place, "sweep: " + changed.error().message, changed.error().hint);
    return &root;
  }

  Scenario interpret(const Node& root) {
    Scenario scenario;
    scenario.path = path_;
    scenario.name = std::filesystem::path(path_).stem().string();
    for (const auto& setting : options_.overrides)  // a sweep is no part of its points
      if (setting.first.substr(0, setting.first.find('.')) != "sweep") scenario.overrides.push_back(setting);
    ReadContext context{problems_, options_, path_, models_};
    Section top(problems_, &root, "");
    if (!top.present()) return scenario;
    readHeader(top, scenario);
    const bool model = readModel(context, top, scenario);
    readSizes(context, top, model ? ModelState::known : ModelState::unknown, scenario);
    readSystems(context, top, scenario);
    readPrecision(context, top, scenario);
    readOptimizer(context, top, scenario);
    readExecution(context, top, scenario);
    top.find("sweep");
    top.finish();
    return scenario;
  }

  static void readHeader(Section& top, Scenario& scenario) {
    std::int64_t version = 1;
    const Node* node = top.require("vsim", "the format's version: write 'vsim: 1'");
    if (node && top.count("vsim", version, 0, 1'000'000) && version != 1)
      top.problems().add(node->place,
                         fmt::format("vsim: {} is a format that this program does not know", version),
                         "it reads 'vsim: 1'");
    top.word("name", scenario.name);
  }

  std::string path_;
  const ReadOptions& options_;
  Problems problems_;
  Document document_;
  ModelCache models_;
  const Node* root_ = nullptr;
  std::vector<SweepAxis> axes_;
};

}  // namespace

ResultAll<Scenario> parseScenario(std::string_view text, const std::string& path,
                                  const ReadOptions& options) {
  ScenarioText file(path, options);
  if (!file.load(text)) return file.failure();
  Scenario scenario = file.base();
  if (!file.right()) return file.failure();
  return scenario;
}

ResultAll<Scenario> readScenario(const std::string& path, const ReadOptions& options) {
  const auto text = readSmallFile(path);
  if (!text) return tl::unexpected(Errors{text.error()});
  return parseScenario(*text, path, options);
}

ResultAll<std::vector<Scenario>> readSweep(const std::string& path, const ReadOptions& options) {
  const auto text = readSmallFile(path);
  if (!text) return tl::unexpected(Errors{text.error()});
  return parseSweep(*text, path, options);
}

ResultAll<std::vector<Scenario>> parseSweep(std::string_view text, const std::string& path,
                                            const ReadOptions& options) {
  ScenarioText file(path, options);
  if (!file.load(text)) return file.failure();
  auto points = file.points();
  if (!file.right()) return file.failure();
  return points;
}

}  // namespace vsim::core
