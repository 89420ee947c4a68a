#include "release/image_source.h"

#include "base/text.h"

namespace slipway::release {

Result<std::string> blob_text(const sys::Context& context, ImageSource& source, const Reference& repository,
                              const Descriptor& blob, std::uint64_t limit) {
  if (blob.size > limit) {
    return error(Code::invalid, "blob {} has {}, must have at most {} to be read into memory", blob.digest.text(),
                 human_size(blob.size), human_size(limit));
  }
  std::string text;
  TRY(source.blob(context, repository, blob, [&](std::string_view piece) -> Result<> {
    text += piece;
    return Ok{};
  }));
  return text;
}

}  // namespace slipway::release
