#include "base/secret.h"

#include <cstring>

namespace slipway {

void Secret::wipe() {
  // explicit_bzero is not removed by the optimizer, unlike memset before a free.
  if (!text_.empty()) explicit_bzero(text_.data(), text_.size());
  text_.clear();
}

}  // namespace slipway

fmt::format_context::iterator fmt::formatter<slipway::Secret>::format(const slipway::Secret&,
                                                                      fmt::format_context& context) const {
  return fmt::format_to(context.out(), "***");
}
