#include "components/router/route.h"

#include "base/characters.h"
#include "base/digest.h"
#include "base/text.h"
#include "kube/client.h"
#include "net/ip.h"
#include "net/x509.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace slipway::components::router {

namespace {

constexpr std::string_view invalid = "ExtendedValidationFailed";
constexpr std::string_view prefix = "haproxy.router.openshift.io/";
// The ingress operator writes it into Routes of Ingress objects.
constexpr std::string_view path_type_annotation = "router.slipway.internal/path-type";
// Supported annotations; others with this prefix have no effect.
constexpr std::array<std::string_view, 8> known_annotations = {"timeout",     "timeout-tunnel",  "balance",      "rewrite-target",
                                                               "hsts_header", "disable_cookies", "ip_allowlist", "ip_whitelist"};

bool is_host(std::string_view host) {
  if (host.empty() || host.size() > 253) return false;
  return std::ranges::all_of(split(host, '.'), [](std::string_view label) {
    const bool is_sized = !label.empty() && label.size() <= 63;
    return is_sized && label.front() != '-' && label.back() != '-' &&
           label.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
  });
}

// A blank would end the key of a map entry. Queries and fragments are not parts of paths.
bool is_path(std::string_view path) {
  return path.empty() || (path.starts_with('/') &&
                          std::ranges::all_of(path, [](unsigned char c) { return c > ' ' && c < 0x7f && c != '?' && c != '#'; }));
}

bool is_plain(std::string_view text, std::string_view marks) {
  return std::ranges::all_of(text, [&](char c) { return is_letter_or_digit(c) || marks.find(c) != std::string_view::npos; });
}

std::string host_of(const Json& object, const Options& options) {
  std::string host = to_lower(text_of(object, {"spec", "host"}));
  if (!host.empty()) return host;
  const std::string subdomain = to_lower(text_of(object, {"spec", "subdomain"}));
  if (!subdomain.empty()) return subdomain + "." + options.domain;
  return fmt::format("{}-{}.{}", kube::name_of(object), kube::namespace_of(object), options.domain);
}

// Why haproxy cannot use a certificate; empty: it can.
std::string certificate_problem(const std::string& pem, const Secret& key) {
  if (pem.empty()) return "spec.tls.certificate: missing, required with spec.tls.key";
  if (key.empty()) return "spec.tls.key: missing, required with spec.tls.certificate";
  const Result<bool> fits = net::key_fits(pem, key);
  if (!fits.ok()) return "spec.tls: " + fits.error().message();
  return fits.value() ? "" : "spec.tls.key: not the key of spec.tls.certificate";
}

std::string authority_problem(const std::string& pem, std::string_view field) {
  const Result<std::vector<net::CertificateInfo>> read = net::parse_certificates(pem);
  return read.ok() ? "" : fmt::format("spec.tls.{}: {}", field, read.error().message());
}

// Each thread caches the result for a certificate, because every change of the cluster reads all routes again.
std::string tls_problem(const std::string& pem, const Secret& key, const std::string& chain, const std::string& destination) {
  thread_local std::unordered_map<std::string, std::string> known;
  Sha256 digest;
  for (const std::string_view part :
       {std::string_view(pem), std::string_view(key.reveal()), std::string_view(chain), std::string_view(destination)}) {
    digest.update(part);
    digest.update(std::string_view("\0", 1));
  }
  const std::string name = digest.finish_hex();
  if (const auto found = known.find(name); found != known.end()) return found->second;
  std::string problem;
  if (!pem.empty() || !key.empty()) problem = certificate_problem(pem, key);
  if (problem.empty() && !chain.empty()) problem = authority_problem(chain, "caCertificate");
  if (problem.empty() && !destination.empty()) problem = authority_problem(destination, "destinationCACertificate");
  // By then most entries are certificates that no route has any more.
  if (known.size() > 5'000) known.clear();
  return known.emplace(name, problem).first->second;
}

class Reader {
 public:
  Reader(const Json& object, const Options& options, bool has_service_ca)
      : object_(object), options_(options), has_service_ca_(has_service_ca) {}

  RouteResult read() {
    route_.space = kube::namespace_of(object_);
    route_.name = kube::name_of(object_);
    route_.uid = text_of(object_, {"metadata", "uid"});
    route_.created = text_of(object_, {"metadata", "creationTimestamp"});
    route_.host = host_of(object_, options_);
    read_host_and_path();
    read_tls();
    read_targets();
    read_annotations();
    remark_on_ignored_settings();
    if (!refusal_.reason.empty()) return {route_.host, std::nullopt, refusal_};
    std::string host = route_.host;
    return {std::move(host), std::move(route_), {}};
  }

 private:
  // Keeps the first problem only: later problems often follow from it.
  void refuse(std::string_view reason, std::string message) {
    if (refusal_.reason.empty()) refusal_ = {std::string(reason), std::move(message)};
  }

  void read_host_and_path() {
    const std::string wildcard = text_of(object_, {"spec", "wildcardPolicy"});
    if (!wildcard.empty() && wildcard != "None") {
      refuse("RouteNotAdmitted", fmt::format("spec.wildcardPolicy: must be None, got '{}'", wildcard));
    }
    if (!is_host(route_.host))
      refuse(invalid,
             fmt::format("'{}' is not a host name (at most 63 letters, digits and hyphens between dots, at most 253 in total)",
                         route_.host));
    route_.path = text_of(object_, {"spec", "path"});
    if (!is_path(route_.path)) refuse(invalid, "spec.path: must begin with a slash and must not contain blanks, '?' and '#'");
    route_.is_exact = text_of(object_, {"metadata", "annotations", path_type_annotation}) == "Exact" && !route_.path.empty();
    while (!route_.is_exact && route_.path.ends_with('/')) route_.path.pop_back();
  }

  void read_tls() {
    const Json* tls = find(object_, {"spec", "tls"});
    if (!tls || !tls->is_object()) return;
    const std::string termination = text_of(*tls, {"termination"});
    route_.termination = termination == "edge"          ? Termination::edge
                         : termination == "passthrough" ? Termination::passthrough
                         : termination == "reencrypt"   ? Termination::reencrypt
                                                        : Termination::none;
    if (route_.termination == Termination::none)
      return refuse(invalid, fmt::format("spec.tls.termination: unknown value '{}'", termination));
    const std::string insecure = text_of(*tls, {"insecureEdgeTerminationPolicy"});
    route_.insecure = insecure == "Allow" ? Insecure::allow : insecure == "Redirect" ? Insecure::redirect : Insecure::refuse;
    if (route_.termination == Termination::passthrough) return read_passthrough();
    if (find(*tls, {"externalCertificate"}))
      return refuse(invalid,
                    "spec.tls.externalCertificate: this router does not read Secrets (put the certificate into spec.tls)");
    const std::string pem = text_of(*tls, {"certificate"});
    const Secret key(text_of(*tls, {"key"}));
    const std::string chain = text_of(*tls, {"caCertificate"});
    if (route_.termination == Termination::reencrypt) {
      route_.destination_ca = text_of(*tls, {"destinationCACertificate"});
      if (route_.destination_ca.empty() && !has_service_ca_) {
        refuse("NoServiceCA",
               "spec.tls.destinationCACertificate: missing; this cluster has no service CA, so the router cannot verify the pods "
               "(set spec.tls.destinationCACertificate)");
      }
    }
    if (const std::string problem = tls_problem(pem, key, chain, route_.destination_ca); !problem.empty())
      refuse(invalid, problem);
    if (!pem.empty())
      route_.certificate = Secret(fmt::format("{}\n{}{}{}\n", pem, chain, chain.empty() ? "" : "\n", key.reveal()));
  }

  void read_passthrough() {
    if (!route_.path.empty()) refuse(invalid, "spec.path: not supported with passthrough routes");
    if (route_.insecure == Insecure::allow)
      refuse(invalid, "spec.tls.insecureEdgeTerminationPolicy: must be None or Redirect with passthrough routes");
  }

  void read_targets() {
    const auto add = [&](const Json& reference) {
      const std::string kind = text_of(reference, {"kind"});
      Target target{text_of(reference, {"name"})};
      if (!kind.empty() && kind != "Service") refuse(invalid, fmt::format("backend of kind '{}': must be Service", kind));
      if (!is_plain(target.service, "-") || target.service.empty()) refuse(invalid, "a backend has no valid name of a Service");
      if (const Json* weight = find(reference, {"weight"}); weight && weight->is_int64()) {
        target.weight = static_cast<int>(std::clamp<std::int64_t>(weight->get_int64(), 0, 256));
      }
      route_.targets.push_back(std::move(target));
    };
    if (const Json* to = find(object_, {"spec", "to"})) add(*to);
    for (const Json& each : find_array(object_, {"spec", "alternateBackends"})) add(each);
    if (route_.targets.empty()) refuse(invalid, "spec.to: no Service named");
    const Json* port = find(object_, {"spec", "port", "targetPort"});
    if (port && port->is_string()) route_.port = std::string_view(port->get_string());
    if (port && port->is_int64()) route_.port = std::to_string(port->get_int64());
  }

  std::string annotation(std::string_view name) const {
    return text_of(object_, {"metadata", "annotations", std::string(prefix) + std::string(name)});
  }

  // Ignores an annotation with an invalid value and adds a remark: the route works without it.
  template <class IsGood>
  void apply_annotation(std::string_view name, std::string& setting, std::string_view expected, const IsGood& is_good) {
    const std::string value = annotation(name);
    if (value.empty()) return;
    if (is_good(value)) {
      setting = value;
    } else {
      route_.remarks.push_back(fmt::format("annotation {}{}: ignored, not a {}", prefix, name, expected));
    }
  }

  void read_annotations() {
    apply_annotation("timeout", route_.timeout, "duration, for example 30s", is_time);
    apply_annotation("timeout-tunnel", route_.timeout_tunnel, "duration, for example 1h", is_time);
    apply_annotation("balance", route_.balance, "value of leastconn, random, roundrobin, source", is_balance);
    apply_annotation("rewrite-target", route_.rewrite, "path of letters, digits and -._~/",
                     [](std::string_view text) { return text.starts_with('/') && is_plain(text, "-._~/"); });
    apply_annotation("hsts_header", route_.hsts, "value of Strict-Transport-Security",
                     [](std::string_view text) { return text.starts_with("max-age=") && is_plain(text, "-=; "); });
    const std::string cookie = text_of(object_, {"metadata", "annotations", "router.openshift.io/cookie_name"});
    if (is_plain(cookie, "-_")) route_.cookie = cookie;
    const std::string without = to_lower(annotation("disable_cookies"));
    route_.has_cookie = without != "true" && without != "1";
    for (const std::string_view name : {"ip_allowlist", "ip_whitelist"}) {
      const std::string list = annotation(name);
      if (!list.empty()) return read_sources(name, list);
    }
  }

  // Adds remarks about settings that have no effect.
  void remark_on_ignored_settings() {
    if (!find_object(object_, {"spec", "httpHeaders"}).empty()) {
      route_.remarks.emplace_back("spec.httpHeaders: has no effect in this release");
    }
    for (const auto& each : find_object(object_, {"metadata", "annotations"})) {
      const std::string_view name = each.key();
      if (!name.starts_with(prefix)) continue;
      if (std::ranges::find(known_annotations, name.substr(prefix.size())) != known_annotations.end()) continue;
      route_.remarks.push_back(fmt::format("annotation {}: has no effect in this release", name));
    }
  }

  // An invalid list refuses the route: without the list, all clients would have access.
  void read_sources(std::string_view name, const std::string& list) {
    for (std::string_view word : split(list, ' ')) {
      word = trim(word);
      if (word.empty()) continue;
      if (!net::is_ip(word) && !net::parse_cidr(word).ok()) {
        return refuse(invalid, fmt::format("annotation {}{}: '{}' is not an address or a network", prefix, name, word));
      }
      route_.sources.emplace_back(word);
    }
  }

  const Json& object_;
  const Options& options_;
  const bool has_service_ca_;
  Route route_;
  Refusal refusal_;
};

}  // namespace

RouteResult read_route(const Json& object, const Options& options, bool has_service_ca) {
  return Reader(object, options, has_service_ca).read();
}

}  // namespace slipway::components::router
