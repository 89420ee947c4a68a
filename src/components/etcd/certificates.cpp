#include "components/etcd/certificates.h"

#include "net/ip.h"

#include <algorithm>

namespace slipway::components::etcd {

namespace {

struct Validity {
  Seconds length;
  std::chrono::minutes refresh;

  std::string refresh_period() const { return fmt::format("{}h{}m0s", refresh.count() / 60, refresh.count() % 60); }
  Lifetime lifetime() const { return {length, refresh}; }
};

// Both as in openshift/cluster-etcd-operator.
constexpr Seconds five_years = std::chrono::hours(24 * 1825);
constexpr Validity long_validity{five_years, std::chrono::hours(36792)};

// Time until every process trusts a new authority. Members and API servers read authorities only when they start, and they
// restart one after another.
constexpr Seconds roll_out = std::chrono::hours(1);

constexpr std::string_view space = "openshift-etcd";
constexpr std::string_view signer_description = "Authority of all members and clients of etcd";
constexpr std::string_view metric_signer_description = "Authority of clients that read metrics of etcd";
constexpr std::string_view client_description = "Client of etcd";
constexpr std::string_view metric_client_description = "Client of the metrics of etcd";
constexpr std::string_view peer_description = "Member of etcd among members";
constexpr std::string_view serving_description = "Member of etcd towards clients";
constexpr std::string_view serving_metrics_description = "Metrics of a member of etcd";

net::SubjectName client_subject(const std::string& name) { return {.common_name = name, .organizations = {"system:etcd", name}}; }

std::vector<std::string> addresses_of(const std::string& address) { return {"127.0.0.1", "::1", address}; }

std::vector<std::string> names_of(const std::vector<std::string>& ips) {
  std::vector<std::string> names = {"localhost", "etcd.kube-system.svc", "etcd.kube-system.svc.cluster.local",
                                    "etcd.openshift-etcd.svc", "etcd.openshift-etcd.svc.cluster.local"};
  names.insert(names.end(), ips.begin(), ips.end());  // some clients compare IP addresses only with the DNS names
  return names;
}

// One second early, so that a machine whose clock is slightly behind accepts the certificate.
WallTime valid_from(WallTime now) { return now - Seconds(1); }

Result<Material> make_signer(const std::string& name, WallTime now, const Validity& validity, std::string_view description) {
  const auto seconds = std::chrono::floor<Seconds>(now).time_since_epoch().count();
  net::Certificate certificate =
      TRY(net::make_certificate({.subject = {.common_name = fmt::format("openshift-etcd_{}@{}", name, seconds)},
                                 .is_ca = true,
                                 .valid_from = valid_from(now),
                                 .valid_for = validity.length},
                                nullptr));
  return Material{name, std::move(certificate), {"etcd", std::string(description), "signer", validity.refresh_period(), {}}};
}

Result<Material> make_client(const std::string& name, const std::string& common_name, const Material& signer, WallTime now,
                             const Validity& validity, std::string_view description) {
  net::Certificate certificate = TRY(net::make_certificate(
      {.subject = client_subject(common_name), .client_auth = true, .valid_from = valid_from(now), .valid_for = validity.length},
      &signer.certificate));
  return Material{name, std::move(certificate), {"etcd", std::string(description), "target", validity.refresh_period(), {}}};
}

Result<Material> make_server(const std::string& name, const std::vector<std::string>& ips, const Material& signer, WallTime now,
                             const Validity& validity, std::string_view description) {
  std::vector<std::string> names = names_of(ips);
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
  return Material{
      name, std::move(certificate), {"etcd", std::string(description), "target", validity.refresh_period(), std::move(names)}};
}

}  // namespace

std::vector<const Material*> Certificates::all() const {
  return {&signer, &metric_signer, &client, &metric_client, &peer, &serving, &serving_metrics};
}

std::vector<const Material*> Certificates::of_node() const { return {&peer, &serving, &serving_metrics}; }

Result<Certificates> make_certificates(const std::string& host, const std::string& address, WallTime now) {
  const std::vector<std::string> ips = addresses_of(address);
  Certificates made;
  made.signer = TRY(make_signer("etcd-signer", now, long_validity, signer_description));
  made.metric_signer = TRY(make_signer("etcd-metric-signer", now, long_validity, metric_signer_description));
  made.client = TRY(make_client("etcd-client", "etcd-client", made.signer, now, long_validity, client_description));
  made.metric_client =
      TRY(make_client("etcd-metric-client", "etcd-metric", made.metric_signer, now, long_validity, metric_client_description));
  made.peer = TRY(make_server("etcd-peer-" + host, ips, made.signer, now, long_validity, peer_description));
  made.serving = TRY(make_server("etcd-serving-" + host, ips, made.signer, now, long_validity, serving_description));
  made.serving_metrics =
      TRY(make_server("etcd-serving-metrics-" + host, ips, made.metric_signer, now, long_validity, serving_metrics_description));
  return made;
}

std::vector<Signer> rotated_signers() {
  const Lifetime lifetime = long_validity.lifetime();
  return {
      {object_name(space, "etcd-signer"), object_name(space, "etcd-ca-bundle"), "etcd", std::string(signer_description), lifetime,
       roll_out},
      {object_name(space, "etcd-metric-signer"), object_name(space, "etcd-metrics-ca-bundle"), "etcd",
       std::string(metric_signer_description), lifetime, roll_out},
  };
}

std::vector<Leaf> rotated_clients() {
  const Lifetime lifetime = long_validity.lifetime();
  const auto client = [&](const std::string& name, const std::string& user, const std::string& signer,
                          std::string_view description) {
    return Leaf{.secret = object_name(space, name),
                .signer = object_name(space, signer),
                .subject = client_subject(user),
                .is_client = true,
                .component = "etcd",
                .description = std::string(description),
                .lifetime = lifetime};
  };
  return {client("etcd-client", "etcd-client", "etcd-signer", client_description),
          client("etcd-metric-client", "etcd-metric", "etcd-metric-signer", metric_client_description)};
}

std::vector<Leaf> rotated_servers(const std::string& node, const std::string& address) {
  const Lifetime lifetime = long_validity.lifetime();
  const std::vector<std::string> ips = addresses_of(address), names = names_of(ips);
  const auto server = [&](const std::string& name, const std::string& signer, std::string_view description) {
    return Leaf{.secret = object_name(space, fmt::format("{}-{}", name, node)),
                .signer = object_name(space, signer),
                .subject = {.common_name = *std::ranges::min_element(names)},
                .is_server = true,
                .is_client = true,
                .dns_names = names,
                .ip_addresses = ips,
                .component = "etcd",
                .description = std::string(description),
                .lifetime = lifetime};
  };
  return {server("etcd-peer", "etcd-signer", peer_description), server("etcd-serving", "etcd-signer", serving_description),
          server("etcd-serving-metrics", "etcd-metric-signer", serving_metrics_description)};
}

}  // namespace slipway::components::etcd
