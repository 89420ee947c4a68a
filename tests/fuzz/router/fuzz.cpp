// A Route of an untrusted user, JSON or YAML, in the config of a haproxy that also serves other users. Whatever the Route
// contains, every line follows the templates, and no value is interpreted as haproxy syntax.
#include "base/check.h"
#include "base/text.h"
#include "base/yaml.h"
#include "components/router/configuration.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace {

using namespace slipway;
using namespace slipway::components;
using namespace slipway::components::router;

// The allowed beginnings of lines of a backend: data/components/router.
constexpr std::array beginnings = {"backend be_",
                                   "    balance ",
                                   "    acl is_allowed src ",
                                   "    http-request deny deny_status 403 unless is_allowed",
                                   "    tcp-request content reject unless is_allowed",
                                   "    dynamic-cookie-key ",
                                   "    cookie ",
                                   "    hash-type ",
                                   "    http-response set-header Strict-Transport-Security \"",
                                   "    http-request set-var(txn.rest) \"path,bytes(",
                                   "    http-request set-path \"",
                                   "    timeout server ",
                                   "    timeout tunnel ",
                                   "    # "};

void check_line(std::string_view line) {
  CHECK(line.empty() || std::ranges::any_of(beginnings, [&](std::string_view each) { return line.starts_with(each); }));
  CHECK(std::ranges::count(line, '"') % 2 == 0);
  CHECK(line.find("${") == std::string_view::npos);
  for (std::size_t at = line.find("%["); at != std::string_view::npos; at = line.find("%[", at + 2)) {
    CHECK(line.substr(at).starts_with("%[var(txn.rest)]"));
  }
  for (char c : line) CHECK(static_cast<unsigned char>(c) >= ' ');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto document = parse_yaml({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!document.ok() || !document->value.is_object()) return 0;
  // The API server sets name, namespace and UID.
  Json& metadata = document->value.as_object()["metadata"];
  if (!metadata.is_object()) metadata = JsonObject();
  metadata.as_object()["name"] = "web";
  metadata.as_object()["namespace"] = "shop";
  metadata.as_object()["uid"] = "2b1c";
  const Options options{.name = "default", .domain = "apps.example.com"};
  for (const bool has_service_ca : {false, true}) {
    RouteResult result = read_route(document->value, options, has_service_ca);
    if (!result.route) {
      CHECK(!result.refusal.reason.empty() && !result.refusal.message.empty());
      continue;
    }
    const auto configuration = configure({*result.route}, {Secret("certificate"), "authority"}, options);
    CHECK(configuration.ok());
    for (const Backend& backend : configuration->backends) {
      for (const std::string_view line : split(backend.head, '\n')) check_line(line);
      for (const std::string& service : backend.services) CHECK(service.find_first_of("\n\"") == std::string::npos);
    }
    // A line of a map has a key and a value.
    for (const auto& [name, list] : configuration->lists) {
      if (!name.ends_with(".map")) continue;
      CHECK(std::ranges::count(list, '\n') <= 1);
      CHECK(list.empty() || std::ranges::count(list, ' ') == 1);
    }
  }
  return 0;
}
