#include "assets/tls/validity.h"

#include "ignition/data_url.h"

#include <fmt/core.h>

#include <set>

namespace slipway::assets {

namespace {

class Validity {
 public:
  explicit Validity(WallTime now) : now_(std::chrono::floor<Seconds>(now)) {}

  // Ignores text without certificates.
  void check(const std::string& name, std::string_view pem) {
    if (pem.find("-----BEGIN CERTIFICATE-----") == std::string_view::npos) return;
    const auto certificates = net::parse_certificates(pem);
    if (!certificates.ok()) return;
    for (const net::CertificateInfo& certificate : certificates.value()) {
      if (!seen_.insert(certificate.serial).second) continue;
      if (certificate.not_after < now_) {
        expired_.add(name,
                     fmt::format("{} was valid until {}", certificate.subject.common_name, to_rfc3339(certificate.not_after)));
      } else if (certificate.not_before > now_) {
        not_yet_valid_.add(
            name, fmt::format("{} is valid from {}", certificate.subject.common_name, to_rfc3339(certificate.not_before)));
      }
    }
  }

  void check(const std::string& name, const ignition::Config& config) {
    for (const ignition::File& file : config.storage.files) check_source(fmt::format("{}:{}", name, file.path), file.contents);
    for (const ignition::Resource& authority : config.ignition.security.tls.certificate_authorities)
      check_source(name, authority);
  }

  Findings findings() const {
    Findings findings;
    if (expired_.count > 0) {
      findings
          .error({expired_.file}, "", "assets-expired: {}, but the time is {}: it has expired{}", expired_.reason,
                 to_rfc3339(now_), expired_.rest())
          .hint("remove the assets with `slipway destroy cluster`, then run `slipway create cluster` to generate new ones");
    }
    if (not_yet_valid_.count > 0) {
      findings
          .error({not_yet_valid_.file}, "", "clock-wrong: {}, but the time is {}: a clock is wrong{}", not_yet_valid_.reason,
                 to_rfc3339(now_), not_yet_valid_.rest())
          .hint(
              "set the clock of this host; if the clock of the host that generated the assets was ahead, remove them with "
              "`slipway destroy cluster`");
    }
    return findings;
  }

 private:
  void check_source(const std::string& name, const ignition::Resource& resource) {
    if (!resource.source || !resource.source->starts_with("data:")) return;
    const Result<std::string> text = ignition::decode_data_url(*resource.source);
    if (text.ok()) check(name, text.value());
  }

  // The first invalid certificate of a group, and the number of certificates in it.
  struct Group {
    std::string file;
    std::string reason;
    int count = 0;

    void add(const std::string& name, std::string text) {
      if (count++ > 0) return;
      file = name;
      reason = std::move(text);
    }
    std::string rest() const { return count > 1 ? fmt::format(", and {} more", count - 1) : ""; }
  };

  WallTime now_;
  Group expired_, not_yet_valid_;
  std::set<std::string> seen_;  // serial numbers of checked certificates
};

}  // namespace

std::optional<Expiry> first_expiry(const Tls& tls) {
  std::optional<Expiry> first;
  for (const auto& [name, certificate] : tls) {
    const auto all = net::parse_certificates(certificate.pem);
    if (!all.ok()) continue;  // a key without a certificate
    for (const net::CertificateInfo& each : all.value()) {
      if (!first || each.not_after < first->until) first = Expiry{each.subject.common_name, each.not_after};
    }
  }
  return first;
}

Findings check_validity(const Assets& assets, WallTime now) {
  Validity validity(now);
  for (const auto& [name, certificate] : assets.tls) validity.check(fmt::format("tls/{}.crt", name), certificate.pem);
  validity.check("bootstrap.ign", assets.bootstrap);
  validity.check("master.ign", assets.master);
  validity.check("worker.ign", assets.worker);
  return validity.findings();
}

}  // namespace slipway::assets
