#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>

#include "gui/model/compare.h"

namespace vsim::gui {
namespace {

using Settings = std::map<std::string, std::string>;

std::string inlineText(const YAML::Node& node) {
  YAML::Emitter out;
  out.SetSeqFormat(YAML::Flow);
  out.SetMapFormat(YAML::Flow);
  out << node;
  return out.c_str();
}

/// "cluster.gpus" -> "64"; sequences stay as they are written.
void flatten(const YAML::Node& node, const std::string& prefix, Settings& settings) {
  if (!node.IsMap()) {
    settings[prefix] = node.IsScalar() ? node.Scalar() : inlineText(node);
    return;
  }
  for (const auto& entry : node)
    flatten(entry.second, (prefix.empty() ? "" : prefix + ".") + entry.first.as<std::string>(), settings);
}

void byLine(const std::string& text, Settings& settings) {
  for (std::size_t at = 0, line = 1; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    settings["line " + std::to_string(line)] = text.substr(at, end - at);
    at = end + 1;
  }
}

void apply(Settings& settings, const std::string& key, const std::string& value) {
  // A value set as a whole replaces what stood below it.
  std::erase_if(settings, [&](const auto& entry) { return entry.first.starts_with(key + "."); });
  settings[key] = value;
}

Settings settingsOf(const ComparedSide& side) {
  Settings settings;
  const std::string& text = side.run->scenarioText;
  try {
    if (const YAML::Node root = YAML::Load(text); root.IsMap()) flatten(root, "", settings);
  } catch (const YAML::Exception&) {
    settings.clear();
    byLine(text, settings);
  }
  const std::string& overrides = side.run->configuration;
  for (std::size_t at = 0; at < overrides.size();) {
    const std::size_t end = std::min(overrides.find('\n', at), overrides.size());
    const std::string line = overrides.substr(at, end - at);
    if (const auto equals = line.find('='); equals != std::string::npos)
      apply(settings, line.substr(0, equals), line.substr(equals + 1));
    at = end + 1;
  }
  for (const auto& [key, value] : side.figures().facts.overrides) apply(settings, key, value);
  settings["(system)"] = side.figures().facts.system;
  const auto log = side.log();
  settings["(executor)"] = log ? log->executor : std::string();
  return settings;
}

}  // namespace

std::vector<ConfigurationRow> configurationDifference(std::span<const ComparedSide> sides) {
  std::vector<Settings> all;
  std::map<std::string, bool> keys;
  for (const ComparedSide& side : sides) {
    all.push_back(settingsOf(side));
    for (const auto& [key, value] : all.back()) keys[key] = true;
  }
  std::vector<ConfigurationRow> rows;
  for (const auto& [key, present] : keys) {
    ConfigurationRow row{.key = key, .values = {}};
    for (const Settings& settings : all) {
      const auto at = settings.find(key);
      row.values.push_back(at == settings.end() ? std::string() : at->second);
    }
    const bool equal = std::ranges::all_of(
        row.values, [&](const std::string& value) { return value == row.values.front(); });
    if (!equal) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace vsim::gui
