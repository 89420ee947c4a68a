#include "base/number.h"
#include "base/text.h"
#include "config/document.h"
#include "config/names.h"
#include "net/ip.h"

#include <algorithm>

namespace slipway::config {

namespace {

struct ProxyUrl {
  std::string scheme;
  std::string host;
};

// The URL of a proxy may contain a password. net::parse_url does not accept that.
std::optional<ProxyUrl> parse_proxy(std::string_view text) {
  const std::size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(scheme_end + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (const std::size_t user = rest.rfind('@'); user != std::string_view::npos) rest.remove_prefix(user + 1);
  std::string_view host = rest;
  std::string_view port;
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = rest.substr(1, end - 1);
    if (!net::is_ip(host)) return std::nullopt;
    port = rest.substr(end + 1);
  } else {
    const std::size_t colon = rest.find(':');
    host = rest.substr(0, colon);
    port = colon == std::string_view::npos ? "" : rest.substr(colon);
    if (!is_dns_subdomain(to_lower(host))) return std::nullopt;
  }
  if (!port.empty() && (port[0] != ':' || parse_number<std::uint16_t>(port.substr(1)).value_or(0) == 0)) return std::nullopt;
  return ProxyUrl{std::string(text.substr(0, scheme_end)), std::string(host)};
}

void refuse_inner_address(Document& document, const std::string& path, const std::string& host) {
  const auto address = net::parse_ip(host);
  if (!address.ok()) return;
  const auto check = [&](std::string_view text) {
    const auto network = net::parse_cidr(text);
    if (network.ok() && network->contains(address.value())) document.error(path, "{} is in the cluster network {}", host, text);
  };
  for (const Json& network : find_array(document.value, {"networking", "clusterNetwork"})) {
    check(find_string(network, {"cidr"}).value_or(""));
  }
  for (const Json& network : find_array(document.value, {"networking", "serviceNetwork"})) {
    if (network.is_string()) check(network.get_string());
  }
}

void validate_proxy(Document& document) {
  if (!find(document.value, {"proxy"})) return;
  const std::string_view http = document.text({"proxy", "httpProxy"});
  const std::string_view https = document.text({"proxy", "httpsProxy"});
  if (http.empty() && https.empty()) document.error("proxy", "must have httpProxy or httpsProxy");
  const auto check = [&](const std::string& path, std::string_view text, bool https_is_fine) {
    if (text.empty()) return;
    const auto url = parse_proxy(text);
    if (!url) {
      document.error(path, "is not a proxy URL").hint("for example http://proxy.example.com:3128");
    } else if (url->scheme != "http" && !(https_is_fine && url->scheme == "https")) {
      document.error(path, "must begin with {}", https_is_fine ? "http:// or https://" : "http://");
    } else {
      refuse_inner_address(document, path, url->host);
    }
  };
  check("proxy.httpProxy", http, false);
  check("proxy.httpsProxy", https, true);
  const std::string_view exceptions = document.text({"proxy", "noProxy"});
  if (exceptions.empty() || exceptions == "*") return;
  for (const std::string_view element : split(exceptions, ',')) {
    if (is_proxy_exception(element) && element != "*") continue;
    document.error("proxy.noProxy", "'{}' is not an address, network or domain", element)
        .hint("separated by commas without blanks");
  }
}

void validate_mirrors(Document& document, const std::string& list) {
  const JsonArray& sources = find_array(document.value, {list});
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].is_object()) continue;
    const std::string path = fmt::format("{}[{}]", list, i);
    const auto check = [&](const std::string& at, std::string_view text) {
      if (is_repository(text)) return;
      document.error(at, "'{}' is not a repository", text).hint("for example registry.example.com/images, without tag or digest");
    };
    if (const auto source = find_string(sources[i], {"source"})) check(path + ".source", *source);
    const JsonArray& mirrors = find_array(sources[i], {"mirrors"});
    for (std::size_t k = 0; k < mirrors.size(); ++k) {
      if (mirrors[k].is_string()) check(fmt::format("{}.mirrors[{}]", path, k), mirrors[k].get_string());
    }
  }
}

}  // namespace

void validate_delivery(Document& document) {
  validate_proxy(document);
  validate_mirrors(document, "imageDigestSources");
  validate_mirrors(document, "imageContentSources");
  const bool has_older = !find_array(document.value, {"imageContentSources"}).empty();
  if (has_older && !find_array(document.value, {"imageDigestSources"}).empty()) {
    document.error("imageContentSources", "cannot be used with imageDigestSources").hint("move its entries there");
  }
}

}  // namespace slipway::config
