// Rules about resources that Ignition fetches, and about proxies.
#include "ignition/fields.h"
#include "ignition/source.h"
#include "ignition/validate_rules.h"

namespace slipway::ignition {

namespace {

void check_required_source(const std::string& path, const Resource& resource, Report& report) {
  if (is_empty(resource.source)) report.error(path, "source", "missing, required here");
}

}  // namespace

void check(const ConfigReferences& references, const std::string& path, Report& report) {
  for (std::size_t i = 0; i < references.merge.size(); ++i) {
    check_required_source(item_path(member_path(path, "merge"), i), references.merge[i], report);
  }
}

void check(const Tls& tls, const std::string& path, Report& report) {
  for (std::size_t i = 0; i < tls.certificate_authorities.size(); ++i) {
    check_required_source(item_path(member_path(path, "certificateAuthorities"), i), tls.certificate_authorities[i], report);
  }
}

void check(const Proxy& proxy, const std::string& path, Report& report) {
  const auto check_url = [&](std::string_view key, const Text& url) {
    if (!url) return;
    const std::string scheme = scheme_of(*url);
    if (scheme != "http" && scheme != "https") {
      report.error(path, key, "the URL of a proxy must begin with http:// or https://");
    } else if (const auto checked = check_server_url(*url); !checked.ok()) {
      report.error(path, key, "not a URL of a proxy: {}", checked.error().message());
    } else if (key == "httpsProxy" && scheme == "http") {
      report.warning(path, key, "the connection to this proxy is not encrypted");
    }
  };
  check_url("httpProxy", proxy.http_proxy);
  check_url("httpsProxy", proxy.https_proxy);
}

void check(const Resource& resource, const std::string& path, Report& report) {
  if (!is_empty(resource.compression) && *resource.compression != "gzip") {
    report.error(path, "compression", "unknown value '{}'", *resource.compression).hint("use gzip, or omit it");
  }
  if (!is_empty(resource.source)) {
    if (const auto checked = check_source(*resource.source); !checked.ok()) {
      report.error(path, "source", "cannot be fetched: {}", checked.error().message());
    }
  }
  if (resource.verification.hash && !resource.source) {
    report.error(member_path(path, "verification"), "hash", "a hash requires a source");
  }
  const std::string scheme = scheme_of(resource.source.value_or(""));
  if (!resource.http_headers.empty() && scheme != "http" && scheme != "https") {
    report.error(path, "httpHeaders", "headers require an http or https source");
  }
}

void check(const HttpHeader& header, const std::string& path, Report& report) {
  check_name(path, header.name, report);
  if (header.value && header.value->empty()) {
    report.error(path, "value", "empty").hint("omit it to remove a header when merging");
  }
}

void check(const Verification& verification, const std::string& path, Report& report) {
  if (!verification.hash) return;
  const std::string_view hash = *verification.hash;
  const std::string_view function = hash.substr(0, hash.find('-'));
  const std::size_t digits = function == "sha512" ? 128 : function == "sha256" ? 64 : 0;
  if (digits == 0 || function.size() == hash.size()) {
    report.error(path, "hash", "a hash must be 'sha512-DIGITS' or 'sha256-DIGITS'");
  } else if (const std::string_view sum = hash.substr(function.size() + 1); sum.size() != digits) {
    report.error(path, "hash", "{} must have {} hexadecimal digits, got {}", function, digits, sum.size());
  } else if (sum.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) {
    report.error(path, "hash", "digits must be hexadecimal");
  }
}

}  // namespace slipway::ignition
