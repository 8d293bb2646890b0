#include "traces/packed_bytes.h"

#include <zlib.h>

#include "core/base/error.h"
#include "traces/byte_archive.h"

namespace vsim::traces {
namespace {

constexpr std::size_t kLargestRatio = 1032;  // deflate cannot compress further (zlib's technical notes)

}  // namespace

std::string packBytes(std::string_view magic, std::string_view plain) {
  uLongf size = compressBound(static_cast<uLong>(plain.size()));
  std::string packed(size, '\0');
  const int status =
      compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
                static_cast<uLong>(plain.size()), Z_BEST_SPEED);
  VSIM_CHECK(status == Z_OK, "zlib compresses into a buffer of compressBound");
  packed.resize(size);
  ByteWriter header;
  header.number(static_cast<std::int64_t>(plain.size()));
  return std::string(magic) + std::move(header).take() + packed;
}

std::optional<std::string> unpackBytes(std::string_view magic, std::string_view packed) {
  if (!packed.starts_with(magic)) return std::nullopt;
  packed.remove_prefix(magic.size());
  std::size_t header = 0;  // length of the varint: bytes up to the first without the top bit
  while (header < packed.size() && (static_cast<unsigned char>(packed[header]) & 0x80) != 0) ++header;
  if (header == packed.size()) return std::nullopt;
  const std::int64_t announced = ByteReader(packed.substr(0, header + 1)).number();
  packed.remove_prefix(header + 1);
  if (announced <= 0 || static_cast<std::uint64_t>(announced) / kLargestRatio > packed.size())
    return std::nullopt;
  std::string plain(static_cast<std::size_t>(announced), '\0');
  uLongf size = static_cast<uLongf>(plain.size());
  if (uncompress(reinterpret_cast<Bytef*>(plain.data()), &size, reinterpret_cast<const Bytef*>(packed.data()),
                 static_cast<uLong>(packed.size())) != Z_OK ||
      size != plain.size())
    return std::nullopt;
  return plain;
}

}  // namespace vsim::traces
