#include "ignition/gzip.h"

#include "base/text.h"

#include <zlib.h>

namespace slipway::ignition {

namespace {

constexpr int window = 15, with_gzip_header = 16;

}  // namespace

Result<std::string> gzip(std::string_view text, Compression compression) {
  constexpr int memory_level = 8;
  z_stream stream{};
  if (deflateInit2(&stream, compression == Compression::best ? Z_BEST_COMPRESSION : Z_BEST_SPEED, Z_DEFLATED,
                   window + with_gzip_header, memory_level, Z_DEFAULT_STRATEGY) != Z_OK) {
    return error(Code::internal, "gzip: no memory");
  }
  std::string packed(deflateBound(&stream, text.size()), '\0');
  std::string input(text);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) return error(Code::internal, "gzip: zlib ended with status {}", status);
  return packed;
}

Result<std::string> gunzip(std::string_view packed, std::size_t limit) {
  constexpr std::size_t largest_piece = 1u << 30;  // fits into avail_in of zlib
  z_stream stream{};
  if (inflateInit2(&stream, window + with_gzip_header) != Z_OK) return error(Code::internal, "gzip: no memory");
  std::string input(packed);
  if (input.size() > largest_piece) {
    inflateEnd(&stream);
    return error(Code::invalid, "gzip: a file of {} is too large", human_size(input.size()));
  }
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  std::string text;
  char piece[65536];
  int status = Z_OK;
  while (status == Z_OK && text.size() <= limit) {
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = sizeof piece;
    status = inflate(&stream, Z_NO_FLUSH);
    text.append(piece, sizeof piece - stream.avail_out);
    if (status == Z_STREAM_END && stream.avail_in > 0) status = inflateReset(&stream);  // the next member
  }
  inflateEnd(&stream);
  if (text.size() > limit) return error(Code::invalid, "gzip: unpacks to more than {}", human_size(limit));
  if (status != Z_STREAM_END) return error(Code::invalid, "gzip: the file is corrupt or truncated");
  return text;
}

}  // namespace slipway::ignition
