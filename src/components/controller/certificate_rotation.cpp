#include "components/controller/certificate_rotation.h"

#include "base/digest.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

namespace slipway::components {

namespace {

// Annotation of a bundle: when its newest authority was added. Every client of the bundle has had that long to read it.
constexpr std::string_view since_annotation = "slipway.internal/newest-since";
constexpr std::string_view bundle_key = "ca-bundle.crt";

// The start is one second early, so that clocks that are slightly behind accept the certificate.
WallTime valid_from(WallTime now) { return std::chrono::floor<Seconds>(now) - Seconds(1); }

// Results by the digest of their text. An operator plans after every change of an object, but certificates change once a week,
// and reading a certificate takes longer than the rest of a plan.
template <class Value>
class Memo {
 public:
  template <class Find>
  Result<Value> get(const std::string& text, const Find& find) {
    const std::string key = sha256_hex(text);
    if (const auto known = values_.find(key); known != values_.end()) return known->second;
    // More entries than this are mostly of replaced certificates.
    if (values_.size() > 500) values_.clear();
    return values_.emplace(key, TRY(find())).first->second;
  }

 private:
  std::unordered_map<std::string, Value> values_;
};

struct Entry {
  std::string pem;
  net::CertificateInfo info;
};

Result<std::vector<Entry>> read_new_entries(const std::string& pem) {
  std::vector<Entry> entries;
  const std::vector<std::string> all = TRY(net::split_certificates(pem));
  const std::vector<net::CertificateInfo> infos = TRY(net::parse_certificates(pem));
  for (std::size_t i = 0; i < all.size(); ++i) entries.push_back({all[i], infos[i]});
  return entries;
}

// All certificates of a text that contains at least one.
Result<std::vector<Entry>> read_entries(const std::string& pem) {
  thread_local Memo<std::vector<Entry>> memo;
  return memo.get(pem, [&] { return read_new_entries(pem); });
}

Result<bool> key_fits(const std::string& pem, const Secret& key) {
  thread_local Memo<bool> memo;
  return memo.get(pem + '\0' + key.reveal(), [&] { return net::key_fits(pem, key); });
}

Result<bool> is_signed_by(const std::string& pem, const std::string& issuer) {
  thread_local Memo<bool> memo;
  return memo.get(pem + '\0' + issuer, [&] { return net::is_signed_by(pem, issuer); });
}

// A certificate and its key, as read from a Secret.
struct KeyPair {
  net::Certificate certificate;  // `info` describes the first certificate of `pem`
  net::CertificateInfo info;

  bool is_valid(WallTime now) const { return now < info.not_after; }
};

// When a certificate must be replaced.
WallTime renewal_time(const net::CertificateInfo& info, Seconds refresh) {
  return info.not_before + std::min<Milliseconds>(refresh, (info.not_after - info.not_before) * 4 / 5);
}

std::string go_duration(Seconds length) {
  const auto count = length.count();
  return fmt::format("{}h{}m{}s", count / 3600, count / 60 % 60, count % 60);
}

// The pair in a Secret. Empty if it is missing, empty or broken; the caller then creates a new one.
std::optional<KeyPair> find_pair(const Snapshot& seen, const ObjectName& name) {
  const Json* object = seen.find(kube::types::secrets, name.space, name.name);
  const std::optional<std::string> pem = data_of(object, "tls.crt");
  const std::optional<std::string> key = data_of(object, "tls.key");
  if (!pem || !key) return {};
  KeyPair pair{{*pem, Secret(*key)}, {}};
  const Result<std::vector<Entry>> entries = read_entries(*pem);
  const Result<bool> fits = key_fits(*pem, pair.certificate.key);
  if (!entries.ok() || !fits.ok() || !fits.value()) return {};
  pair.info = entries->front().info;
  return pair;
}

Result<std::vector<Entry>> read_bundle(const std::vector<std::string>& pems, WallTime now) {
  std::vector<Entry> entries;
  std::set<std::string> known;
  for (const std::string& pem : pems) {
    if (pem.find("-----BEGIN CERTIFICATE-----") == std::string::npos) continue;
    std::vector<Entry> all = TRY(read_entries(pem));
    for (Entry& one : all) {
      if (now < one.info.not_after && known.insert(one.pem).second) entries.push_back(std::move(one));
    }
  }
  std::ranges::stable_sort(entries, std::greater(), [](const Entry& entry) { return entry.info.not_before; });
  return entries;
}

std::string pem_of(const std::vector<Entry>& entries) {
  std::string text;
  for (const Entry& entry : entries) text += entry.pem;
  return text;
}

// Puts the pair into its Secret. Adds a notice if it replaces an existing one.
Result<> renew(const ObjectName& name, const net::Certificate& made, const Rotation& rotation, const Snapshot& seen, Plan& plan) {
  Json object = TRY(tls_secret(name, made, rotation));
  if (seen.find(kube::types::secrets, name.space, name.name) != nullptr) {
    const net::CertificateInfo info = TRY(net::parse_certificate(made.pem));
    plan.notices.push_back(
        {.regarding = {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", name.name}, {"namespace", name.space}}}},
         .reason = "CertificateRenewed",
         .message = fmt::format("certificate {}/{} issued by {}, valid until {}", name.space, name.name, info.issuer.common_name,
                                to_rfc3339(info.not_after))});
  }
  plan.desired_objects.push_back({kube::types::secrets, std::move(object)});
  return Ok{};
}

// A signer and its current state.
struct Authority {
  const Signer* row = nullptr;
  std::optional<KeyPair> pair{};    // empty until the new Secret is in the snapshot
  std::vector<Entry> trusted{};     // the published bundle
  std::optional<WallTime> since{};  // when the pair was added to the published bundle
};

Result<net::Certificate> make_signer(const Signer& signer, const Lifetime& lifetime, WallTime now) {
  const auto seconds = std::chrono::floor<Seconds>(now).time_since_epoch().count();
  return net::make_certificate(
      {.subject = {.common_name = fmt::format("{}_{}@{}", signer.secret.space, signer.secret.name, seconds)},
       .is_ca = true,
       .valid_from = valid_from(now),
       .valid_for = lifetime.valid},
      nullptr);
}

Rotation rotation_of(const Signer& signer, const Lifetime& lifetime) {
  return {signer.component, signer.description, "signer", go_duration(lifetime.refresh), {}};
}

Rotation rotation_of(const Leaf& leaf, const Lifetime& lifetime) {
  std::vector<std::string> names = leaf.dns_names;
  names.insert(names.end(), leaf.ip_addresses.begin(), leaf.ip_addresses.end());
  return {leaf.component, leaf.description, "target", go_duration(lifetime.refresh), std::move(names)};
}

// Plans the signer and its bundle. A new signer is published by the next plan, which sees its Secret.
Result<Authority> plan_signer(const Signer& signer, const Lifetime& lifetime, const Snapshot& seen, WallTime now, Plan& plan) {
  Authority authority{.row = &signer, .pair = find_pair(seen, signer.secret)};
  if (authority.pair && !authority.pair->info.is_ca) authority.pair.reset();
  if (!authority.pair || now >= renewal_time(authority.pair->info, lifetime.refresh)) {
    const net::Certificate made = TRY(make_signer(signer, lifetime, now));
    TRY(renew(signer.secret, made, rotation_of(signer, lifetime), seen, plan));
    // The existing signer stays in use until the new Secret is in the snapshot.
  } else {
    plan.replan_by(renewal_time(authority.pair->info, lifetime.refresh));
  }

  const Json* bundle = seen.find(kube::types::config_maps, signer.bundle.space, signer.bundle.name);
  const std::string published = data_of(bundle, bundle_key).value_or("");
  Result<std::vector<Entry>> trusted = read_bundle({published}, now);
  // Clients do not trust a bundle that cannot be read.
  if (trusted.ok()) authority.trusted = std::move(trusted).value();
  if (!authority.pair) return authority;

  const std::vector<Entry> own = TRY(read_entries(authority.pair->certificate.pem));
  const bool is_published =
      std::ranges::any_of(authority.trusted, [&](const Entry& entry) { return entry.pem == own.front().pem; });
  Texts annotations;
  if (is_published) {
    authority.since = authority.pair->info.not_before;
    const auto annotation =
        bundle == nullptr ? std::nullopt : find_string(*bundle, {"metadata", "annotations", since_annotation});
    if (annotation) {
      const Result<WallTime> since = parse_rfc3339(*annotation);
      if (since.ok()) authority.since = since.value();
    }
  } else {
    annotations.emplace_back(since_annotation, to_rfc3339(now));
  }
  const std::vector<Entry> wanted = TRY(read_bundle({own.front().pem, pem_of(authority.trusted)}, now));
  for (const Entry& entry : wanted) plan.replan_by(entry.info.not_after);
  if (const std::string text = pem_of(wanted); text != published) {
    plan.desired_objects.push_back(
        {kube::types::config_maps, config_map(signer.bundle, {{std::string(bundle_key), text}}, annotations,
                                              {{"auth.openshift.io/managed-certificate-type", "ca-bundle"}})});
  }
  return authority;
}

std::vector<std::string> sorted(std::vector<std::string> texts) {
  std::ranges::sort(texts);
  return texts;
}

bool matches(const net::CertificateInfo& info, const Leaf& leaf) {
  return info.subject == leaf.subject && info.server_auth == leaf.is_server && info.client_auth == leaf.is_client &&
         sorted(info.dns_names) == sorted(leaf.dns_names) && sorted(info.ip_addresses) == sorted(leaf.ip_addresses);
}

bool signed_by(const KeyPair& leaf, const net::CertificateInfo& issuer, const std::string& issuer_pem) {
  if (leaf.info.issuer != issuer.subject) return false;
  const Result<bool> is_signed = is_signed_by(leaf.certificate.pem, issuer_pem);
  return is_signed.ok() && is_signed.value();
}

bool is_trusted(const KeyPair& leaf, const Authority& authority) {
  // If the bundle does not contain the leaf's own signer yet, this plan adds it.
  if (signed_by(leaf, authority.pair->info, authority.pair->certificate.pem)) return true;
  return std::ranges::any_of(authority.trusted, [&](const Entry& entry) { return signed_by(leaf, entry.info, entry.pem); });
}

// Whether a new leaf is needed now. If it is needed later, sets the time of the next plan.
bool needs_new_leaf(const Leaf& leaf, const Lifetime& lifetime, const std::optional<KeyPair>& current, const Authority& authority,
                    WallTime now, Plan& plan) {
  if (!current || !current->is_valid(now) || !is_trusted(*current, authority)) return true;
  WallTime when = matches(current->info, leaf) ? renewal_time(current->info, lifetime.refresh) : now;
  if (!signed_by(*current, authority.pair->info, authority.pair->certificate.pem)) {
    // The change of the bundle triggers the next plan.
    if (!authority.since) return false;
    const WallTime refresh = renewal_time(current->info, lifetime.refresh);
    const Milliseconds spread = std::min<Milliseconds>(authority.row->spread, (current->info.not_after - refresh) / 2);
    when = std::max(when, *authority.since + std::max((refresh - current->info.not_before) / 10, spread));
  }
  if (now < when) plan.replan_by(when);
  return now >= when;
}

Result<> plan_leaf(const Leaf& leaf, const Lifetime& lifetime, const Authority& authority, const Snapshot& seen, WallTime now,
                   Plan& plan) {
  // The same plan replaces an expired signer.
  if (!authority.pair || !authority.pair->is_valid(now)) return Ok{};
  const std::optional<KeyPair> current = find_pair(seen, leaf.secret);
  if (!needs_new_leaf(leaf, lifetime, current, authority, now, plan)) return Ok{};
  const WallTime from = valid_from(now);
  const Seconds left = std::chrono::floor<Seconds>(authority.pair->info.not_after - from);
  net::Certificate made = TRY(net::make_certificate({.subject = leaf.subject,
                                                     .server_auth = leaf.is_server,
                                                     .client_auth = leaf.is_client,
                                                     .dns_names = leaf.dns_names,
                                                     .ip_addresses = leaf.ip_addresses,
                                                     .valid_from = from,
                                                     .valid_for = std::min(lifetime.valid, left)},
                                                    &authority.pair->certificate)
                                  .context(fmt::format("issuing {}/{}", leaf.secret.space, leaf.secret.name)));
  const net::CertificateInfo& signer = authority.pair->info;
  if (signer.issuer != signer.subject) made.pem += authority.pair->certificate.pem;
  return renew(leaf.secret, made, rotation_of(leaf, lifetime), seen, plan);
}

// The setting only shortens lifetimes.
Lifetime shortened(const Lifetime& lifetime, std::optional<Seconds> valid) {
  return valid && *valid < lifetime.valid ? Lifetime{*valid, *valid / 2} : lifetime;
}

// With lifetimes below five minutes a program may still use an expired certificate: programs of the control plane read their
// certificates every ten seconds, the installer on a node needs up to a minute, and kubelets renew two minutes after they got
// one.
struct LifetimeKey {
  std::string_view name;
  std::optional<Seconds> Lifetimes::*member;
  Seconds least, most;
};
constexpr std::array lifetime_keys = {
    LifetimeKey{"leaf", &Lifetimes::leaf, std::chrono::minutes(5), std::chrono::hours(720)},
    LifetimeKey{"authority", &Lifetimes::authority, std::chrono::minutes(10), std::chrono::hours(1440)},
    LifetimeKey{"kubelet", &Lifetimes::kubelet, std::chrono::minutes(5), std::chrono::hours(720)},
    LifetimeKey{"etcd", &Lifetimes::etcd, std::chrono::minutes(5), std::chrono::hours(43800)},
};

Result<Seconds> parse_length(const LifetimeKey& key, const Json& value) {
  const std::string_view text = value.is_string() ? std::string_view(value.get_string()) : std::string_view();
  const Result<Milliseconds> length = parse_duration(text);
  if (!length.ok())
    return error(Code::invalid, "data.{}: '{}' is not a duration (use for example 30m, 24h or 1h30m)", key.name, text);
  if (length.value() < key.least || length.value() > key.most) {
    return error(Code::invalid, "data.{}: {} is not between {} and {}", key.name, text, go_duration(key.least),
                 go_duration(key.most));
  }
  return std::chrono::floor<Seconds>(length.value());
}

}  // namespace

std::optional<std::string> data_of(const Json* object, std::string_view key) {
  if (object == nullptr) return {};
  const auto text = find_string(*object, {"data", key});
  if (!text) return {};
  if (find_string(*object, {"kind"}) != "Secret") return std::string(*text);
  Result<std::string> decoded = base64_decode(*text);
  return decoded.ok() ? std::optional(std::move(decoded).value()) : std::nullopt;
}

Watched watched_lifetimes() {
  return {kube::types::config_maps, std::string(lifetimes_space), {.fields = fmt::format("metadata.name={}", lifetimes_name)}};
}

Result<Lifetimes> parse_lifetimes(const Snapshot& seen) {
  Lifetimes lifetimes;
  const Json* setting = seen.find(kube::types::config_maps, lifetimes_space, lifetimes_name);
  if (setting == nullptr) return lifetimes;
  for (const auto& [name, value] : find_object(*setting, {"data"})) {
    const auto key = std::ranges::find(lifetime_keys, std::string_view(name), &LifetimeKey::name);
    if (key == lifetime_keys.end()) {
      return error(Code::invalid, "data.{}: unknown key (known keys: leaf, authority, kubelet, etcd)", std::string_view(name));
    }
    lifetimes.*key->member = TRY(parse_length(*key, value));
  }
  return lifetimes;
}

Lifetimes lifetimes_of(const Snapshot& seen, std::vector<Condition>& conditions) {
  Condition condition{"CertificateRotationDegraded"};
  Result<Lifetimes> lifetimes = parse_lifetimes(seen).context(fmt::format("ConfigMap {}/{}", lifetimes_space, lifetimes_name));
  if (!lifetimes.ok()) {
    condition = {condition.type, true, "InvalidLifetime", lifetimes.error().message() + "; default lifetimes are used instead"};
    lifetimes = Lifetimes{};
  } else {
    std::vector<std::string> chosen;
    for (const LifetimeKey& key : lifetime_keys) {
      const std::optional<Seconds>& length = lifetimes.value().*key.member;
      if (length) chosen.push_back(fmt::format("{} {}", key.name, go_duration(*length)));
    }
    if (!chosen.empty()) {
      condition.reason = "LifetimesConfigured";
      condition.message = fmt::format("ConfigMap {}/{}: {}", lifetimes_space, lifetimes_name, join(chosen, ", "));
    }
  }
  conditions.push_back(std::move(condition));
  return lifetimes.value();
}

Result<Plan> plan_rotation(const std::vector<Signer>& signers, const std::vector<Leaf>& leaves, const Lifetimes& lifetimes,
                           const Snapshot& seen, WallTime now) {
  Plan plan;
  std::vector<Authority> authorities;
  for (const Signer& signer : signers) {
    const Lifetime lifetime = shortened(signer.lifetime, lifetimes.authority);
    authorities.push_back(TRY(plan_signer(signer, lifetime, seen, now, plan)));
  }
  for (const Leaf& leaf : leaves) {
    const auto authority = std::ranges::find_if(authorities, [&](const Authority& one) {
      return one.row->secret.space == leaf.signer.space && one.row->secret.name == leaf.signer.name;
    });
    if (authority == authorities.end()) {
      return error(Code::invalid, "{}/{}: signer {}/{} is not in the table", leaf.secret.space, leaf.secret.name,
                   leaf.signer.space, leaf.signer.name);
    }
    TRY(plan_leaf(leaf, shortened(leaf.lifetime, lifetimes.leaf), *authority, seen, now, plan));
  }
  return plan;
}

Result<std::string> join_bundles(const std::vector<std::string>& pems, WallTime now) {
  return pem_of(TRY(read_bundle(pems, now)));
}

}  // namespace slipway::components
