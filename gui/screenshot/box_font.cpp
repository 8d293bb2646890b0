#include "gui/screenshot/box_font.h"

#include <QList>
#include <cstdint>
#include <utility>

namespace vsim::gui {
namespace {

// Sizes in font units, 1000 to an em.
constexpr int kAdvance = 560, kBlank = 300, kAscent = 800, kDescent = 200;
constexpr int kLeft = 60, kRight = 500, kTop = 560;

/// Big-endian numbers one after the other, as font files hold them (OpenType specification 1.9).
class Bytes {
 public:
  Bytes& u8(int value) {
    data_.append(static_cast<char>(value));
    return *this;
  }
  Bytes& u16(int value) { return u8(value >> 8 & 0xff).u8(value & 0xff); }
  Bytes& u32(std::uint32_t value) {
    return u16(static_cast<int>(value >> 16)).u16(static_cast<int>(value & 0xffff));
  }
  Bytes& text(const char* value) {
    data_.append(value);
    return *this;
  }
  Bytes& zeros(int count) {
    data_.append(QByteArray(count, '\0'));
    return *this;
  }
  [[nodiscard]] const QByteArray& data() const { return data_; }

 private:
  QByteArray data_;
};

/// Two glyphs: 0 and 1 are the box, 2 is blank.
QByteArray glyphs() {
  Bytes out;
  for (int i = 0; i < 2; ++i) {
    out.u16(1).u16(kLeft).u16(0).u16(kRight).u16(kTop);  // one contour and its bounds
    out.u16(3).u16(0);                                   // last point, no instructions
    for (int point = 0; point < 4; ++point) out.u8(1);   // on the curve, 16-bit coordinates
    out.u16(kLeft).u16(0).u16(kRight - kLeft).u16(0);    // x, each from the one before
    out.u16(0).u16(kTop).u16(0).u16(-kTop & 0xffff);     // y
    out.zeros(2);                                        // to a multiple of four
  }
  return out.data();
}

QByteArray header() {
  return Bytes()
      .u32(0x00010000)
      .u32(0x00010000)
      .u32(0)
      .u32(0x5F0F3CF5)
      .u16(0)
      .u16(1000)
      .zeros(16)
      .u16(0)
      .u16(0)
      .u16(kRight)
      .u16(kTop)
      .u16(0)
      .u16(6)
      .u16(2)
      .u16(1)  // long offsets
      .u16(0)
      .data();
}

QByteArray horizontalHeader() {
  return Bytes()
      .u32(0x00010000)
      .u16(kAscent)
      .u16(-kDescent & 0xffff)
      .u16(0)
      .u16(kAdvance)
      .u16(0)
      .u16(0)
      .u16(kRight)
      .u16(1)
      .zeros(14)
      .u16(3)
      .data();
}

QByteArray limits() {
  return Bytes().u32(0x00010000).u16(3).u16(4).u16(1).u16(0).u16(0).u16(1).zeros(16).data();
}

/// Blanks to glyph 2, all else to glyph 1.
QByteArray characterMap() {
  const std::pair<std::uint32_t, std::uint32_t> ranges[] = {
      {0x20, 0x20},     {0x21, 0x9f},     {0xa0, 0xa0},    {0xa1, 0x1fff},
      {0x2000, 0x200f}, {0x2010, 0xd7ff}, {0xe000, 0xfffd}};
  const int count = static_cast<int>(std::size(ranges));
  Bytes out;
  out.u16(0).u16(1).u16(3).u16(10).u32(12);
  out.u16(13)
      .u16(0)
      .u32(static_cast<std::uint32_t>(16 + 12 * count))
      .u32(0)
      .u32(static_cast<std::uint32_t>(count));
  for (const auto& [first, last] : ranges) {
    const bool blank = first == 0x20 || first == 0xa0 || first == 0x2000;
    out.u32(first).u32(last).u32(blank ? 2 : 1);
  }
  return out.data();
}

QByteArray names() {
  const char* texts[] = {kBoxFamily, "Regular", kBoxFamily};
  const int ids[] = {1, 2, 4};
  Bytes table, strings;
  table.u16(0).u16(3).u16(6 + 3 * 12);
  for (int i = 0; i < 3; ++i) {
    const QByteArray text(texts[i]);
    table.u16(3)
        .u16(1)
        .u16(0x409)
        .u16(ids[i])
        .u16(static_cast<int>(text.size() * 2))
        .u16(static_cast<int>(strings.data().size()));
    for (const char c : text) strings.u16(c);
  }
  return table.data() + strings.data();
}

QByteArray metrics() {
  Bytes out;
  out.u16(4).u16(500).u16(400).u16(5).u16(0).zeros(20).u16(0).zeros(10);
  out.u32(0xffffffff).u32(0xffffffff).u32(0xffffffff).u32(0xffffffff);  // claims all scripts
  out.text("VSIM").u16(0x40).u16(0x20).u16(0xfffd);
  out.u16(kAscent).u16(-kDescent & 0xffff).u16(0).u16(kAscent).u16(kDescent);
  out.u32(0xffffffff).u32(0).u16(500).u16(kTop).u16(0).u16(0x20).u16(1);
  return out.data();
}

std::uint32_t checksum(const QByteArray& table) {
  std::uint32_t sum = 0;
  for (qsizetype i = 0; i < table.size(); ++i)
    sum += static_cast<std::uint32_t>(static_cast<unsigned char>(table[i])) << (24 - 8 * (i % 4));
  return sum;
}

}  // namespace

QByteArray boxFont() {
  const QByteArray glyph = glyphs();
  const auto half = static_cast<std::uint32_t>(glyph.size() / 2);
  const QList<std::pair<const char*, QByteArray>> tables{
      {"OS/2", metrics()},
      {"cmap", characterMap()},
      {"glyf", glyph},
      {"head", header()},
      {"hhea", horizontalHeader()},
      {"hmtx", Bytes().u16(kAdvance).u16(kLeft).u16(kAdvance).u16(kLeft).u16(kBlank).u16(0).data()},
      {"loca", Bytes().u32(0).u32(half).u32(2 * half).u32(2 * half).data()},
      {"maxp", limits()},
      {"name", names()},
      {"post", Bytes().u32(0x00030000).zeros(28).data()},
  };
  const auto count = static_cast<int>(tables.size());
  Bytes directory, body;
  directory.u32(0x00010000).u16(count).u16(128).u16(3).u16(count * 16 - 128);
  auto offset = static_cast<std::uint32_t>(12 + 16 * count);
  for (const auto& [tag, table] : tables) {
    const auto size = static_cast<std::uint32_t>(table.size());
    directory.text(tag).u32(checksum(table)).u32(offset).u32(size);
    QByteArray padded = table;
    padded.append(QByteArray((4 - table.size() % 4) % 4, '\0'));
    for (const char byte : padded) body.u8(byte);
    offset += static_cast<std::uint32_t>(padded.size());
  }
  return directory.data() + body.data();
}

}  // namespace vsim::gui
