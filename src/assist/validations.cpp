#include "assist/validations.h"

#include <algorithm>

namespace slipway::assist {

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::success: return "success";
    case Outcome::failure: return "failure";
    case Outcome::pending: return "pending";
    case Outcome::disabled: break;
  }
  return "disabled";
}

std::string_view to_string(Weight weight) {
  switch (weight) {
    case Weight::state: return "state";
    case Weight::minimum: return "minimum";
    case Weight::input: return "input";
    case Weight::blocking: return "blocking";
    case Weight::warning: break;
  }
  return "warning";
}

bool pass(const std::vector<Validation>& validations, Weight weight) {
  return std::ranges::all_of(validations, [&](const Validation& each) { return each.weight != weight || each.passes(); });
}

Json to_json(const std::vector<Validation>& validations) {
  JsonObject categories;
  for (const Validation& each : validations) {
    Json& list = categories[each.category];
    if (list.is_null()) list = JsonArray{};
    list.get_array().push_back(Json{
        {"id", each.id}, {"status", to_string(each.outcome)}, {"message", each.message}, {"weight", to_string(each.weight)}});
  }
  return categories;
}

}  // namespace slipway::assist
