#include "operators/etcd/certificates.h"

#include "net/ip.h"

#include <algorithm>

namespace slipway::operators::etcd {

namespace {

struct Validity {
  Seconds length;
  std::string refresh_period;
};

// operators 2.1, 12.4
constexpr Seconds five_years = std::chrono::hours(24 * 1825);
const Validity long_validity{five_years, "36792h0m0s"};
const Validity short_signer{std::chrono::hours(4), "3h0m0s"};
const Validity short_leaf{std::chrono::hours(2), "1h30m0s"};

// One second ago, so that a clock that is a little behind takes it too.
WallTime valid_from(WallTime now) { return now - Seconds(1); }

Result<Material> make_signer(const std::string& name, WallTime now, const Validity& validity, const std::string& description) {
  const auto seconds = std::chrono::floor<Seconds>(now).time_since_epoch().count();
  net::Certificate certificate =
      TRY(net::make_certificate({.subject = {.common_name = fmt::format("openshift-etcd_{}@{}", name, seconds)},
                                 .is_ca = true,
                                 .valid_from = valid_from(now),
                                 .valid_for = validity.length},
                                nullptr));
  return Material{name, std::move(certificate), {"etcd", description, "signer", validity.refresh_period, {}}};
}

Result<Material> make_client(const std::string& name, const std::string& common_name, const Material& signer, WallTime now,
                             const Validity& validity, const std::string& description) {
  net::Certificate certificate =
      TRY(net::make_certificate({.subject = {.common_name = common_name, .organizations = {"system:etcd", common_name}},
                                 .client_auth = true,
                                 .valid_from = valid_from(now),
                                 .valid_for = validity.length},
                                &signer.certificate));
  return Material{name, std::move(certificate), {"etcd", description, "target", validity.refresh_period, {}}};
}

Result<Material> make_server(const std::string& name, const std::vector<std::string>& ips, const Material& signer, WallTime now,
                             const Validity& validity, const std::string& description) {
  std::vector<std::string> names = {"localhost", "etcd.kube-system.svc", "etcd.kube-system.svc.cluster.local",
                                    "etcd.openshift-etcd.svc", "etcd.openshift-etcd.svc.cluster.local"};
  names.insert(names.end(), ips.begin(), ips.end());  // also as names, for clients that look only there
  std::string first = *std::ranges::min_element(names);
  net::Certificate certificate = TRY(net::make_certificate({.subject = {.common_name = std::move(first)},
                                                            .server_auth = true,
                                                            .client_auth = true,
                                                            .dns_names = names,
                                                            .ip_addresses = ips,
                                                            .valid_from = valid_from(now),
                                                            .valid_for = validity.length},
                                                           &signer.certificate));
  certificate.pem += signer.certificate.pem;
  return Material{name, std::move(certificate), {"etcd", description, "target", validity.refresh_period, std::move(names)}};
}

}  // namespace

std::vector<const Material*> Certificates::all() const {
  return {&signer, &metric_signer, &client, &metric_client, &peer, &serving, &serving_metrics};
}

std::vector<const Material*> Certificates::of_node() const { return {&peer, &serving, &serving_metrics}; }

Result<Certificates> make_certificates(const std::string& host, const std::string& address, WallTime now, bool short_rotation) {
  const Validity& of_signer = short_rotation ? short_signer : long_validity;
  const Validity& of_leaf = short_rotation ? short_leaf : long_validity;
  const std::vector<std::string> ips = {"127.0.0.1", "::1", address};
  Certificates made;
  made.signer = TRY(make_signer("etcd-signer", now, of_signer, "Authority of all members and clients of etcd"));
  made.metric_signer = TRY(make_signer("etcd-metric-signer", now, of_signer, "Authority of those who read metrics of etcd"));
  made.client = TRY(make_client("etcd-client", "etcd-client", made.signer, now, of_leaf, "Client of etcd"));
  made.metric_client =
      TRY(make_client("etcd-metric-client", "etcd-metric", made.metric_signer, now, of_leaf, "Client of the metrics of etcd"));
  made.peer = TRY(make_server("etcd-peer-" + host, ips, made.signer, now, of_leaf, "Member of etcd among members"));
  made.serving = TRY(make_server("etcd-serving-" + host, ips, made.signer, now, of_leaf, "Member of etcd towards clients"));
  made.serving_metrics =
      TRY(make_server("etcd-serving-metrics-" + host, ips, made.metric_signer, now, of_leaf, "Metrics of a member of etcd"));
  return made;
}

}  // namespace slipway::operators::etcd
