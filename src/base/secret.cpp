#include "base/secret.h"

#include <cstring>

namespace slipway {

void Secret::wipe() {
  // Unlike a memset before a free, the optimizer does not remove explicit_bzero.
  if (!text_.empty()) explicit_bzero(text_.data(), text_.size());
  text_.clear();
}

}  // namespace slipway

fmt::format_context::iterator fmt::formatter<slipway::Secret>::format(const slipway::Secret&,
                                                                      fmt::format_context& context) const {
  return fmt::format_to(context.out(), "***");
}
