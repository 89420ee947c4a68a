#include "base/result.h"

namespace slipway {

std::string_view to_string(Code code) {
  switch (code) {
    case Code::invalid: return "invalid";
    case Code::not_found: return "not_found";
    case Code::too_large: return "too_large";
    case Code::conflict: return "conflict";
    case Code::denied: return "denied";
    case Code::unavailable: return "unavailable";
    case Code::timeout: return "timeout";
    case Code::cancelled: return "cancelled";
    case Code::internal: return "internal";
  }
  return "internal";
}

}  // namespace slipway
