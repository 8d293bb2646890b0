#pragma once

#include <QImage>
#include <algorithm>
#include <cstdlib>

namespace vsim::test {

/// How far two pictures are apart. `image` is white where they are equal, and redder the more they differ.
struct ImageDifference {
  bool sameSize = false;
  double mean = 0;     // |difference| of a channel, 0 to 255
  double changed = 0;  // share of pixels with a channel further off than kChanged
  QImage image;

  static constexpr int kChanged = 8;
  static constexpr double kMostChanged = 0.001, kMostMean = 0.5;
  [[nodiscard]] bool tolerable() const { return sameSize && changed <= kMostChanged && mean < kMostMean; }
};

inline ImageDifference difference(const QImage& left, const QImage& right) {
  ImageDifference result;
  result.sameSize = left.size() == right.size() && !left.isNull();
  if (!result.sameSize) return result;
  const QImage a = left.convertToFormat(QImage::Format_RGB32),
               b = right.convertToFormat(QImage::Format_RGB32);
  result.image = QImage(a.size(), QImage::Format_RGB32);
  double sum = 0, changed = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x) {
      const QRgb p = a.pixel(x, y), q = b.pixel(x, y);
      const int red = std::abs(qRed(p) - qRed(q)), green = std::abs(qGreen(p) - qGreen(q)),
                blue = std::abs(qBlue(p) - qBlue(q));
      const int most = std::max({red, green, blue});
      sum += red + green + blue;
      changed += most > ImageDifference::kChanged ? 1 : 0;
      result.image.setPixel(x, y, qRgb(255, 255 - most, 255 - most));
    }
  const double pixels = static_cast<double>(a.width()) * a.height();
  result.mean = sum / (3 * pixels);
  result.changed = changed / pixels;
  return result;
}

}  // namespace vsim::test
