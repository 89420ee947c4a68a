#include "kube/conditions.h"

namespace slipway::kube {

const Json* find_condition(const Json& object, std::string_view type) {
  for (const Json& condition : find_array(object, {"status", "conditions"})) {
    if (find_string(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}

std::string_view condition_text(const Json& object, std::string_view type, std::string_view member) {
  const Json* condition = find_condition(object, type);
  return condition ? find_string(*condition, {member}).value_or("") : std::string_view();
}

std::string_view condition_status(const Json& object, std::string_view type) { return condition_text(object, type, "status"); }

}  // namespace slipway::kube
