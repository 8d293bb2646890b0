#include <fmt/format.h>

#include <algorithm>

#include "gui/export/export.h"
#include "gui/screenshot/screenshot.h"
#include "gui/window/view_table.h"

namespace vsim::gui {
namespace {

const std::vector<std::string> kOptions{"--screenshot", "--run",   "--baseline", "--db",     "-o",
                                        "--size",       "--scale", "--theme",    "--csv",    "--url",
                                        "--report",     "--text",  "--do",       "--window", "--help"};

std::string views() {
  std::string names;
  for (const ViewEntry& entry : viewTable()) names += (names.empty() ? "" : ", ") + std::string(entry.key);
  return names;
}

core::Result<QSize> sizeFrom(const QString& text) {
  const QStringList sides = text.split('x');
  bool wide = false, high = false;
  const QSize size(sides.value(0).toInt(&wide), sides.value(1).toInt(&high));
  if (sides.size() != 2 || !wide || !high || size.width() < 200 || size.height() < 150 ||
      size.width() > 8000 || size.height() > 8000)
    return core::fail(fmt::format("--size {}: no size", text.toStdString()),
                      "such as 1280x800, up to 8000x8000");
  return size;
}

core::Result<Theme> themeFrom(const QString& text) {
  if (text == "light") return Theme::light;
  if (text == "dark") return Theme::dark;
  if (text == "contrast") return Theme::highContrast;
  return core::fail(fmt::format("--theme {}: no such theme", text.toStdString()), "light, dark or contrast");
}

/// One option with its value.
core::Result<void> take(ScreenshotOptions& options, const QString& name, const QString& value) {
  if (name == "--screenshot") options.view = value;
  if (name == "--run") options.runs.push_back(value);
  if (name == "--baseline") options.baseline = value;
  if (name == "--db") options.store = value.toStdString();
  if (name == "-o") options.output = value;
  if (name == "--csv") options.csv = value;
  if (name == "--url") options.url = value;
  if (name == "--do") options.commands.push_back(value);
  if (name == "--size") {
    const auto size = sizeFrom(value);
    if (!size) return tl::unexpected(size.error());
    options.size = *size;
  }
  if (name == "--theme") {
    const auto theme = themeFrom(value);
    if (!theme) return tl::unexpected(theme.error());
    options.theme = *theme;
  }
  if (name == "--scale" || name == "--report") {
    bool number = false;
    const int n = value.toInt(&number);
    const bool scale = name == "--scale";
    if (!number || n < (scale ? 1 : 0) || (scale && n > 4))
      return core::fail(fmt::format("{} {}: no such number", name.toStdString(), value.toStdString()),
                        scale ? "1 to 4" : "reports count from 0");
    (scale ? options.scale : options.report) = n;
  }
  if (name == "--text") {
    if (value != "boxes" && value != "full")
      return core::fail(fmt::format("--text {}: full or boxes", value.toStdString()));
    options.boxes = value == "boxes";
  }
  return {};
}

core::Result<void> check(const ScreenshotOptions& options) {
  bool known = false;
  for (const ViewEntry& entry : viewTable()) known = known || options.view == entry.key;
  if (!known)
    return core::fail(fmt::format("--screenshot {}: no such view", options.view.toStdString()),
                      "views: " + views());
  if (options.output.isEmpty() && options.csv.isEmpty())
    return core::fail("--screenshot: where to? -o FILE is missing",
                      "a .png or .svg file; --csv FILE for its data");
  if (!options.output.isEmpty()) {
    const auto format = formatOf(options.output);
    if (!format || *format == ExportFormat::csv)
      return core::fail(fmt::format("-o {}: pictures are .png or .svg", options.output.toStdString()));
  }
  const bool alone = options.view == "runs" || options.view == "scenario";
  if (options.runs.isEmpty() && !alone)
    return core::fail("--screenshot: of which run? --run RUN is missing",
                      "number of a stored run, \"last\", or a scenario");
  if (options.runs.size() > static_cast<qsizetype>(Session::kMaxRuns))
    return core::fail(fmt::format("--run: {} runs at most", Session::kMaxRuns));
  return {};
}

}  // namespace

core::Result<ScreenshotOptions> readScreenshotOptions(const QStringList& words) {
  ScreenshotOptions options;
  for (qsizetype i = 0; i < words.size(); ++i) {
    QString name = words[i], value;
    const bool joined = name.startsWith("--") && name.contains('=');
    if (joined) {
      value = name.section('=', 1);
      name = name.section('=', 0, 0);
    }
    if (name == "--output") name = "-o";
    if (name == "--help" || name == "-h") {
      options.help = true;
      return options;
    }
    if (name == "--window") {
      options.window = true;
      continue;
    }
    if (std::find(kOptions.begin(), kOptions.end(), name.toStdString()) == kOptions.end()) {
      const std::string near = core::nearest(name.toStdString(), kOptions);
      return core::fail(
          fmt::format("unknown option {}", name.toStdString()),
          near.empty() ? "vsim-gui --screenshot --help lists them" : "did you mean " + near + "?");
    }
    if (!joined && i + 1 == words.size())
      return core::fail(name.toStdString() + ": its value is missing",
                        name == "--screenshot" ? "views: " + views() : "");
    if (!joined) value = words[++i];
    if (const auto taken = take(options, name, value); !taken) return tl::unexpected(taken.error());
  }
  if (const auto good = check(options); !good) return tl::unexpected(good.error());
  return options;
}

}  // namespace vsim::gui
