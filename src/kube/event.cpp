#include "kube/client.h"

#include "base/characters.h"
#include "base/digest.h"
#include "base/text.h"

#include <algorithm>

namespace slipway::kube {

namespace {

constexpr std::size_t longest_name = 200;  // the limit is 253; leaves room for the digest

// The name is the same for the same object, reason and component, so that repeated events are counted in one Event. For type
// "Normal" the message is part of it: three machines that become ready must give three Events. A warning's message differs each
// time.
std::string event_name(const Json& about, std::string_view component, std::string_view type, std::string_view reason,
                       std::string_view message) {
  std::string name = to_lower(name_of(about)).substr(0, longest_name);
  for (char& c : name) {
    if (!is_lower_or_digit(c) && c != '.') c = '-';  // names of roles may have colons, names of events may not
  }
  const std::string identity =
      fmt::format("{}\n{}\n{}\n{}\n{}", describe(about), find_string(about, {"metadata", "uid"}).value_or(""), component, reason,
                  type == "Normal" ? message : "");
  return name + "." + sha256_hex(identity).substr(0, 16);
}

Json reference_to(const Json& about) {
  JsonObject reference;
  for (const char* key : {"apiVersion", "kind"}) {
    if (const auto value = find_string(about, {key})) reference[key] = *value;
  }
  for (const char* key : {"namespace", "name", "uid", "resourceVersion"}) {
    if (const auto value = find_string(about, {"metadata", key})) reference[key] = *value;
  }
  return reference;
}

}  // namespace

Result<> emit_event(const sys::Context& context, Api& api, const Json& about, std::string_view component, std::string_view type,
                    std::string_view reason, std::string_view message) {
  // The server accepts events about cluster-scoped objects only in "default".
  const std::string space(namespace_of(about).empty() ? "default" : namespace_of(about));
  const std::string name = event_name(about, component, type, reason, message);
  const std::string now = to_rfc3339(std::chrono::floor<Seconds>(context.clock.now()));
  const Json event = {{"apiVersion", "v1"},
                      {"kind", "Event"},
                      {"metadata", {{"name", name}, {"namespace", space}}},
                      {"involvedObject", reference_to(about)},
                      {"reason", reason},
                      {"message", message},
                      {"type", type},
                      {"count", 1},
                      {"firstTimestamp", now},
                      {"lastTimestamp", now},
                      {"source", {{"component", component}}},
                      {"reportingComponent", component},
                      {"reportingInstance", ""}};
  Result<Json> created = create(context, api, types::events, event);
  if (created.ok()) return Ok{};
  if (created.error().code() != Code::conflict) return std::move(created).error();
  const std::optional<Json> before = TRY(find(context, api, types::events, space, name));
  const Json* count = before ? slipway::find(*before, {"count"}) : nullptr;
  const std::int64_t times = count && count->is_int64() ? count->get_int64() : 0;
  const Json patch = {{"count", times + 1}, {"lastTimestamp", now}, {"message", message}, {"type", type}};
  TRY(merge_patch(context, api, types::events, space, name, patch));
  return Ok{};
}

}  // namespace slipway::kube
