#include "components/controller/certificate_rotation.h"

#include "base/digest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace slipway::components {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

const WallTime start = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21};
constexpr Seconds day = hours(24);

const Signer authority{
    {"operator", "client-signer"}, {"operator", "client-ca"}, "kube-apiserver", "clients", {60 * day, 30 * day}};
const Leaf client{.secret = {"target", "client"},
                  .signer = {"operator", "client-signer"},
                  .subject = {"system:client", {"system:masters"}},
                  .is_client = true,
                  .component = "kube-apiserver",
                  .description = "a client",
                  .lifetime = {30 * day, 15 * day}};

net::Certificate make_authority(std::string name, WallTime from, Seconds valid) {
  return net::make_certificate(
             {.subject = {.common_name = std::move(name)}, .is_ca = true, .valid_from = from, .valid_for = valid}, nullptr)
      .value();
}

// The cluster, with the history of one bundle.
struct World {
  View view;
  std::map<WallTime, std::string> published;
  int broken = 0;  // percentage of writes that fail

  std::string text(const kube::ResourceType& type, const ObjectName& name, std::string_view key) const {
    return data_of(view.snapshot().find(type, name.space, name.name), key).value_or("");
  }
  net::CertificateInfo info(const ObjectName& name) const {
    return net::parse_certificate(text(kube::types::secrets, name, "tls.crt")).value();
  }
  void put_pair(const ObjectName& name, const net::Certificate& pair) {
    view.put(tls_secret(name, pair, {.component = "test", .description = "a test"}).value());
  }
  void put(const DesiredObject& desired, WallTime now) {
    Json object = desired.object;
    const std::string name(*find_string(object, {"metadata", "name"}));
    const std::string space(*find_string(object, {"metadata", "namespace"}));
    const Snapshot seen = view.snapshot();
    if (const Json* before = seen.find(desired.type, space, name)) {
      JsonObject annotations = find_object(*before, {"metadata", "annotations"});
      for (const auto& [key, value] : find_object(object, {"metadata", "annotations"})) annotations[key] = value;
      object.at("metadata").as_object()["annotations"] = annotations;
    }
    if (name == authority.bundle.name) published[now] = *data_of(&object, "ca-bundle.crt");
    view.put(object);
  }
  // True if all writes succeeded.
  bool fulfil(const Plan& plan, WallTime now, std::mt19937& random) {
    bool all = true;
    for (const DesiredObject& desired : plan.desired_objects) {
      if (static_cast<int>(random() % 100) < broken) {
        all = false;
      } else {
        put(desired, now);
      }
    }
    return all;
  }
  std::string bundle_at(WallTime time) const {
    auto after = published.upper_bound(time);
    return after == published.begin() ? "" : std::prev(after)->second;
  }
};

bool is_signed_by_one_of(const std::string& leaf, const std::string& bundle, WallTime now) {
  if (bundle.empty()) return false;
  const std::vector<std::string> pems = net::split_certificates(bundle).value();
  return std::ranges::any_of(pems, [&](const std::string& pem) {
    return now < net::parse_certificate(pem).value().not_after && net::is_signed_by(leaf, pem).value();
  });
}

struct Walk {
  std::string name;
  Lifetimes lifetimes;
  Seconds inherited;  // validity of the signer that exists at the start; zero: none
  Lifetime leaf;
  Seconds length;
  int broken;
  int signers;  // minimum number of signers that were in use

  friend void PrintTo(const Walk& walk, std::ostream* out) { *out << walk.name; }
};

class RotationWalk : public testing::TestWithParam<Walk> {};

TEST_P(RotationWalk, KeepsEveryLeafTrustedAtEveryMoment) {
  const Walk& walk = GetParam();
  std::mt19937 random(1);
  World world;
  world.broken = walk.broken;
  if (walk.inherited != Seconds(0)) world.put_pair(authority.secret, make_authority("installer", start, walk.inherited));
  Leaf leaf = client;
  leaf.lifetime = walk.leaf;
  std::string before;
  std::set<std::string> signers;
  for (WallTime now = start; now < start + walk.length;) {
    if (!before.empty() && !world.published.empty()) {
      // The state just before this moment.
      ASSERT_LT(now, net::parse_certificate(before).value().not_after) << "the leaf is over";
      ASSERT_TRUE(is_signed_by_one_of(before, world.bundle_at(now), now)) << to_rfc3339(now);
    }
    const Plan plan = plan_rotation({authority}, {leaf}, walk.lifetimes, world.view.snapshot(), now).value();
    const bool all = world.fulfil(plan, now, random);
    const std::string pem = world.text(kube::types::secrets, leaf.secret, "tls.crt");
    if (!pem.empty()) {
      const net::CertificateInfo info = net::parse_certificate(pem).value();
      ASSERT_LE(info.not_before, now);
      if (!before.empty() && pem != before) {
        const net::CertificateInfo old = net::parse_certificate(before).value();
        const Milliseconds validity = old.not_after - old.not_before;
        const Seconds refresh = walk.lifetimes.leaf ? *walk.lifetimes.leaf / 2 : leaf.lifetime.refresh;
        const Milliseconds notice = std::min<Milliseconds>(refresh, validity * 4 / 5) / 10;
        ASSERT_TRUE(is_signed_by_one_of(pem, world.bundle_at(now - notice), now)) << "nobody could know this signer yet";
      }
      before = pem;
      signers.insert(info.issuer.common_name);
    }
    if (all && !world.published.empty()) {
      const std::vector<net::CertificateInfo> trusted = net::parse_certificates(world.bundle_at(now)).value();
      for (const net::CertificateInfo& one : trusted) {
        ASSERT_LT(now, one.not_after) << "a dead authority is still trusted";
      }
    }
    if (!all || !plan.desired_objects.empty()) {
      now += Seconds(1);
      continue;
    }
    ASSERT_TRUE(plan.replan_at.has_value());
    ASSERT_GT(*plan.replan_at, now);
    now = *plan.replan_at + Seconds(random() % 3);
  }
  EXPECT_GE(static_cast<int>(signers.size()), walk.signers);
}

INSTANTIATE_TEST_SUITE_P(
    Walks, RotationWalk,
    testing::Values(
        Walk{"WeeksFromADay", {}, day, {30 * day, 15 * day}, 120 * day, 0, 4},
        Walk{"WeeksFromNothing", {}, Seconds(0), {30 * day, 15 * day}, 120 * day, 0, 4},
        Walk{"WeeksWithFailures", {}, day, {30 * day, 15 * day}, 120 * day, 40, 4},
        Walk{"LeavesLongerThanSigners", {}, 10 * day, {300 * day, 200 * day}, 200 * day, 20, 4},
        Walk{"Minutes", {.leaf = minutes(4), .authority = minutes(20)}, day, {30 * day, 15 * day}, hours(1), 0, 5},
        Walk{"MinutesWithFailures", {.leaf = minutes(4), .authority = minutes(20)}, day, {30 * day, 15 * day}, hours(1), 40, 5}),
    [](const auto& walk) { return walk.param.name; });

// A signer and a leaf that were just created.
struct Settled : World {
  explicit Settled(const net::Certificate& signer = make_authority("installer", start, 100 * day)) {
    put_pair(authority.secret, signer);
    plan_and_fulfil(client, start);
  }
  Plan plan(const Leaf& leaf, WallTime now) { return plan_rotation({authority}, {leaf}, {}, view.snapshot(), now).value(); }
  void plan_and_fulfil(const Leaf& leaf, WallTime now) {
    for (const DesiredObject& desired : plan(leaf, now).desired_objects) put(desired, now);
  }
  std::string leaf() const { return text(kube::types::secrets, client.secret, "tls.crt"); }
  std::string bundle() const { return text(kube::types::config_maps, authority.bundle, "ca-bundle.crt"); }
};

TEST(Rotation, TakesOverWhatIsThereAndThenRests) {
  const net::Certificate signer = make_authority("installer", start, 100 * day);
  Settled world(signer);
  EXPECT_EQ(world.bundle(), signer.pem);
  const net::CertificateInfo info = world.info(client.secret);
  EXPECT_EQ(info.issuer.common_name, "installer");
  EXPECT_EQ(info.subject, client.subject);
  EXPECT_TRUE(info.client_auth);
  EXPECT_FALSE(info.server_auth);
  EXPECT_EQ(info.not_after - info.not_before, 30 * day);
  const Plan plan = world.plan(client, start + day);
  EXPECT_TRUE(plan.desired_objects.empty());
  EXPECT_EQ(plan.replan_at, start - Seconds(1) + 15 * day) << "of the leaf";
  const Snapshot seen = world.view.snapshot();
  const Json* secret = seen.find(kube::types::secrets, "target", "client");
  EXPECT_EQ(find_string(*secret, {"type"}), "kubernetes.io/tls");
  EXPECT_EQ(find_string(*secret, {"metadata", "annotations", "certificates.openshift.io/refresh-period"}), "360h0m0s");
}

TEST(Rotation, TellsOfRenewalsWithoutKeys) {
  Settled world;
  EXPECT_TRUE(world.plan(client, start + day).notices.empty());
  const Plan plan = world.plan(client, start + 16 * day);
  ASSERT_EQ(plan.notices.size(), 1u);
  EXPECT_EQ(plan.notices.front().message, "certificate target/client issued by installer, valid until 2027-01-05T23:59:59Z");
  EXPECT_EQ(find(plan.notices.front().regarding, {"data"}), nullptr);
  View view;
  EXPECT_TRUE(plan_rotation({authority}, {client}, {}, view.snapshot(), start).value().notices.empty()) << "the first is no news";
}

TEST(Rotation, ASignerSignsNothingThatItsBundleDoesNotHaveForLongEnough) {
  Settled world;
  const std::string first = world.leaf();
  const WallTime replaced = start + 30 * day;
  // The Secret is written, the bundle two days later.
  world.plan_and_fulfil(client, start + 16 * day);
  const std::string second = world.leaf();
  EXPECT_NE(first, second);
  world.put(world.plan(client, replaced).desired_objects.front(), replaced);
  const Plan late = world.plan(client, replaced + 2 * day);
  ASSERT_EQ(late.desired_objects.size(), 1u);
  EXPECT_EQ(find_string(late.desired_objects.front().object, {"kind"}), "ConfigMap");
  world.put(late.desired_objects.front(), replaced + 2 * day);
  EXPECT_TRUE(world.plan(client, replaced + 3 * day).desired_objects.empty());
  EXPECT_EQ(world.plan(client, replaced + 3 * day).replan_at, replaced + 2 * day + hours(36));
  world.plan_and_fulfil(client, replaced + 2 * day + hours(36));
  EXPECT_EQ(world.info(client.secret).issuer, world.info(authority.secret).subject);
}

struct Change {
  std::string name;
  void (*change)(Settled& world, Leaf& leaf);
  bool is_new;
};

TEST(Rotation, MakesALeafAnewWhenItsNamesOrItsSignerAreNotTheSame) {
  const std::vector<Change> table = {
      {"nothing", [](Settled&, Leaf&) {}, false},
      {"a name", [](Settled&, Leaf& leaf) { leaf.dns_names = {"localhost"}; }, true},
      {"an address", [](Settled&, Leaf& leaf) { leaf.ip_addresses = {"127.0.0.1"}; }, true},
      {"the subject", [](Settled&, Leaf& leaf) { leaf.subject.organizations = {"other"}; }, true},
      {"the usage", [](Settled&, Leaf& leaf) { leaf.is_server = true; }, true},
      {"another's key",
       [](Settled& world, Leaf& leaf) {
         world.put_pair(leaf.secret, {world.leaf(), net::make_key().value()});
       },
       true},
      {"an empty Secret",
       [](Settled& world, Leaf& leaf) {
         world.view.put(secret(leaf.secret, "kubernetes.io/tls", {{"tls.crt", ""}}));
       },
       true},
      {"a signer that nobody knows",
       [](Settled& world, Leaf&) {
         world.put_pair(authority.secret, make_authority("installer", start, 50 * day));
         world.view.remove(kube::types::config_maps, "operator", "client-ca");
       },
       true},
      {"a signer put in its place by hand",
       [](Settled& world, Leaf&) { world.put_pair(authority.secret, make_authority("by-hand", start, 50 * day)); }, false},
      {"a bundle that cannot be read",
       [](Settled& world, Leaf&) {
         world.view.put(config_map(authority.bundle, {{"ca-bundle.crt", "-----BEGIN CERTIFICATE-----\nAAAA\n"}}));
       },
       false},
  };
  for (const Change& row : table) {
    Settled world;
    Leaf leaf = client;
    const std::string before = world.leaf();
    row.change(world, leaf);
    for (int i = 0; i < 3; ++i) world.plan_and_fulfil(leaf, start + day);
    EXPECT_EQ(world.leaf() != before, row.is_new) << row.name;
    EXPECT_TRUE(net::key_fits(world.leaf(), Secret(world.text(kube::types::secrets, leaf.secret, "tls.key"))).value())
        << row.name;
    EXPECT_TRUE(is_signed_by_one_of(world.leaf(), world.bundle(), start + day)) << row.name;
    EXPECT_TRUE(world.plan(leaf, start + day).desired_objects.empty()) << row.name;
  }
}

TEST(Rotation, ShowsTheWayToTheRoot) {
  const net::Certificate root = make_authority("root", start, 100 * day);
  const net::Certificate middle =
      net::make_certificate({.subject = {.common_name = "middle"}, .is_ca = true, .valid_from = start, .valid_for = 50 * day},
                            &root)
          .value();
  Settled world(middle);
  ASSERT_EQ(net::split_certificates(world.leaf()).value().size(), 2u);
  EXPECT_EQ(net::split_certificates(world.leaf()).value().back(), net::split_certificates(middle.pem).value().front());
}

TEST(Rotation, WaitsUntilARollOutHasSpreadANewSigner) {
  Signer slow = authority;
  slow.spread = std::chrono::hours(1);
  Leaf leaf = client;
  leaf.lifetime = {.valid = std::chrono::hours(8), .refresh = std::chrono::hours(4)};
  World world;
  world.put_pair(authority.secret, make_authority("installer", start, 10 * day));
  const auto plan = [&](WallTime now) {
    const Plan made = plan_rotation({slow}, {leaf}, {}, world.view.snapshot(), now).value();
    for (const DesiredObject& desired : made.desired_objects) world.put(desired, now);
  };
  const auto pem = [&] { return world.text(kube::types::secrets, leaf.secret, "tls.crt"); };
  plan(start);
  const std::string first = pem();
  // An administrator replaces the signer just before the leaf is due.
  const WallTime replaced = start + std::chrono::hours(4) - Seconds(60);
  world.put_pair(authority.secret, make_authority("next", replaced, 10 * day));
  plan(replaced);
  plan(replaced + std::chrono::minutes(59));
  EXPECT_EQ(pem(), first);
  plan(replaced + std::chrono::minutes(61));
  EXPECT_NE(pem(), first);
}

TEST(Rotation, RefusesALeafWithoutASigner) {
  View view;
  const Result<Plan> plan = plan_rotation({}, {client}, {}, view.snapshot(), start);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code(), Code::invalid);
}

Snapshot with_setting(View& view, Texts data) {
  view.put(config_map({std::string(lifetimes_space), std::string(lifetimes_name)}, data));
  return view.snapshot();
}

TEST(Lifetimes, AreReadOrRefused) {
  View view;
  const Lifetimes none = parse_lifetimes(view.snapshot()).value();
  EXPECT_FALSE(none.authority || none.leaf || none.kubelet);
  const Lifetimes all =
      parse_lifetimes(with_setting(view, {{"authority", "1h30m"}, {"leaf", "5m"}, {"kubelet", "720h"}, {"etcd", "43800h"}}))
          .value();
  EXPECT_EQ(all.authority, Seconds(5400));
  EXPECT_EQ(all.leaf, Seconds(300));
  EXPECT_EQ(all.kubelet, Seconds(2592000));
  EXPECT_EQ(all.etcd, Seconds(157680000));
  for (std::string_view wrong : {"5", "5x", "m", "", "-1m", "299s", "721h", "99999999h"}) {
    const Result<Lifetimes> refused = parse_lifetimes(with_setting(view, {{"leaf", std::string(wrong)}}));
    ASSERT_FALSE(refused.ok()) << wrong;
    EXPECT_NE(refused.error().message().find("data.leaf"), std::string::npos) << refused.error().message();
  }
  EXPECT_FALSE(parse_lifetimes(with_setting(view, {{"authority", "9m"}})).ok());
  const Result<Lifetimes> unknown = parse_lifetimes(with_setting(view, {{"leafs", "1h"}}));
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message(), "data.leafs: unknown key (known keys: leaf, authority, kubelet, etcd)");
}

TEST(Lifetimes, AreNamedByACondition) {
  View view;
  std::vector<Condition> conditions;
  lifetimes_of(view.snapshot(), conditions);
  EXPECT_EQ(conditions, std::vector<Condition>{{"CertificateRotationDegraded"}});
  conditions.clear();
  EXPECT_EQ(lifetimes_of(with_setting(view, {{"leaf", "1h"}}), conditions).leaf, Seconds(3600));
  EXPECT_EQ(conditions, (std::vector<Condition>{{"CertificateRotationDegraded", false, "LifetimesConfigured",
                                                 "ConfigMap openshift-config/certificate-lifetimes: leaf 1h0m0s"}}));
  conditions.clear();
  const Lifetimes refused = lifetimes_of(with_setting(view, {{"leaf", "1m"}, {"kubelet", "1h"}}), conditions);
  EXPECT_FALSE(refused.leaf || refused.kubelet);
  EXPECT_EQ(conditions, (std::vector<Condition>{{"CertificateRotationDegraded", true, "InvalidLifetime",
                                                 "ConfigMap openshift-config/certificate-lifetimes: data.leaf: 1m is not between "
                                                 "0h5m0s and 720h0m0s; default lifetimes are used instead"}}));
}

TEST(JoinBundles, HasEachOnceWithoutTheDead) {
  const std::string old = make_authority("old", start, 10 * day).pem, young = make_authority("young", start + day, 10 * day).pem;
  const std::string dead = make_authority("dead", start - 5 * day, 6 * day).pem;
  EXPECT_EQ(join_bundles({old, dead + old, "", "# nothing\n", young}, start + 2 * day).value(), young + old);
  EXPECT_FALSE(join_bundles({"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}, start).ok());
}

TEST(Held, DecodesSecretsOnly) {
  const Json one = secret({"s", "n"}, "Opaque", {{"key", "text"}}), other = config_map({"s", "n"}, {{"key", "text"}});
  EXPECT_EQ(data_of(&one, "key"), "text");
  EXPECT_EQ(data_of(&other, "key"), "text");
  EXPECT_EQ(data_of(&other, "another"), std::nullopt);
  EXPECT_EQ(data_of(nullptr, "key"), std::nullopt);
}

}  // namespace
}  // namespace slipway::components
