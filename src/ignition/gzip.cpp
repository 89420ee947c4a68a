#include "ignition/gzip.h"

#include <zlib.h>

namespace slipway::ignition {

Result<std::string> gzip(std::string_view text) {
  constexpr int window = 15, with_gzip_header = 16, memory_level = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, window + with_gzip_header, memory_level, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
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

}  // namespace slipway::ignition
