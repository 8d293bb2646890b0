#include "gui/paint/palette.h"

#include <array>
#include <cmath>

namespace vsim::gui {
namespace {

constexpr QRgb kOrange = 0xffe69f00, kSkyBlue = 0xff56b4e9, kGreen = 0xff009e73, kYellow = 0xfff0e442,
               kBlue = 0xff0072b2, kVermilion = 0xffd55e00, kPurple = 0xffcc79a7;

QRgb ink(bool dark) { return dark ? 0xffd0d0d0 : 0xff404040; }  // black's place among the eight

double linear(double channel) {
  return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

double luminance(const QColor& c) {
  return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF());
}

Palette makePalette(Theme theme) {
  Palette p;
  p.dark = theme != Theme::light;
  p.background = theme == Theme::highContrast ? 0xff000000 : p.dark ? 0xff1e1f22 : 0xffffffff;
  p.panel = theme == Theme::highContrast ? 0xff000000 : p.dark ? 0xff2b2d30 : 0xfff3f4f6;
  p.text = theme == Theme::highContrast ? 0xffffffff : p.dark ? 0xffe6e6e6 : 0xff1a1a1a;
  p.mutedText = theme == Theme::highContrast ? 0xffffffff : p.dark ? 0xffa8adb5 : 0xff5a6270;
  p.grid = theme == Theme::highContrast ? 0xff808080 : p.dark ? 0xff43464b : 0xffd5d9e0;
  p.accent = p.dark ? 0xff6cb6ff : 0xff0b5cad;
  p.exposed = p.dark ? 0xffff6b6b : 0xffc62828;
  p.critical = p.dark ? 0xffffffff : 0xff000000;
  return p;
}

}  // namespace

QColor Palette::series(std::size_t n) const {
  const std::array<QRgb, 8> colours{kBlue,    kOrange,    kGreen,  kPurple,
                                    kSkyBlue, kVermilion, kYellow, ink(dark)};
  return QColor(colours[n % colours.size()]);
}

QColor Palette::slice(SliceClass kind) const {
  switch (kind) {
    case SliceClass::forward:
      return QColor(kSkyBlue);
    case SliceClass::backward:
      return QColor(kBlue);
    case SliceClass::optimizer:
      return QColor(kPurple);
    case SliceClass::allGather:
      return QColor(kGreen);
    case SliceClass::reduceScatter:
      return QColor(kOrange);
    case SliceClass::allReduce:
      return QColor(kVermilion);
    case SliceClass::allToAll:
      return QColor(kYellow);
    case SliceClass::copy:
      return QColor(ink(dark));
    case SliceClass::host:
      return mutedText;
  }
  return QColor(ink(dark));
}

QColor Palette::memory(core::MemoryCategory category) const {
  switch (category) {
    case core::MemoryCategory::parameters:
      return QColor(kBlue);
    case core::MemoryCategory::gradients:
      return QColor(kOrange);
    case core::MemoryCategory::optimizerState:
      return QColor(kPurple);
    case core::MemoryCategory::unshardedParameters:
      return QColor(kGreen);
    case core::MemoryCategory::gradientBuffers:
      return QColor(kVermilion);
    case core::MemoryCategory::activations:
      return QColor(kSkyBlue);
    case core::MemoryCategory::logitsLoss:
      return QColor(kYellow);
    case core::MemoryCategory::temporary:
      return QColor(ink(dark));
    case core::MemoryCategory::ncclContext:
      return QColor(dark ? 0xff7a7f87 : 0xff9aa0a8);
  }
  return QColor(ink(dark));
}

const Palette& paletteOf(Theme theme) {
  static const std::array<Palette, 3> palettes{makePalette(Theme::light), makePalette(Theme::dark),
                                               makePalette(Theme::highContrast)};
  return palettes[static_cast<std::size_t>(theme)];
}

double contrast(const QColor& a, const QColor& b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

QColor inkOn(const QColor& background) {
  return contrast(background, Qt::black) >= contrast(background, Qt::white) ? Qt::black : Qt::white;
}

}  // namespace vsim::gui
