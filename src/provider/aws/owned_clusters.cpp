#include "provider/aws/owned_clusters.h"

#include "assets/identity/identity.h"
#include "provider/aws/prices.h"
#include "provider/aws/resources.h"

#include <fmt/core.h>

#include <map>

namespace slipway::provider::aws {

namespace {

// Names in the account of which the beginning may be an infraID. resources() then shows whether the objects are of slipway.
class Candidates {
 public:
  Candidates(const sys::Context& context, Api& api) : context_(context), api_(api) {}

  // By infraID: whether a mark proves that the cluster is of slipway.
  Result<std::map<std::string, bool>> find() {
    TRY(add_tagged());
    TRY(add_roles("ListRoles", "ListRolesResult", "Roles", "RoleName", role_names("")));
    TRY(add_roles("ListInstanceProfiles", "ListInstanceProfilesResult", "InstanceProfiles", "InstanceProfileName",
                  profile_names("")));
    TRY(add_balancers());
    TRY(add_zones());
    TRY(add_buckets());
    return std::move(found_);
  }

 private:
  void add(std::string_view text, bool is_proved = false) {
    if (!assets::is_infra_id(text)) return;
    bool& known = found_[std::string(text)];
    known = known || is_proved;
  }

  void add_before(std::string_view name, const std::vector<std::string>& endings) {
    for (const std::string& ending : endings) {
      if (name.ends_with(ending)) add(name.substr(0, name.size() - ending.size()));
    }
  }

  Result<> add_tagged() {
    const std::string prefix = cluster_tag("");
    Call call{.action = "DescribeTags"};
    call.parameters = {{"Filter.1.Name", "key"}, {"Filter.1.Value.1", prefix + "*"}, {"Filter.1.Value.2", std::string(own_tag)}};
    for (const Xml& page : TRY(api_.pages(context_, std::move(call)))) {
      for (const Xml& tag : page.at({"tagSet"}).children) {
        const std::string& key = tag.text_at({"key"});
        if (key.starts_with(prefix)) add(std::string_view(key).substr(prefix.size()));
        if (key == own_tag) add(tag.text_at({"value"}), true);
      }
    }
    return Ok{};
  }

  Result<> add_roles(std::string_view action, std::string_view result, std::string_view list, std::string_view name,
                     const std::vector<std::string>& endings) {
    for (const Xml& page : TRY(api_.pages(context_, {.service = Service::iam, .action = std::string(action)}))) {
      for (const Xml& each : page.at({result, list}).children) add_before(each.text_at({name}), endings);
    }
    return Ok{};
  }

  Result<> add_balancers() {
    for (const Xml& page : TRY(api_.pages(context_, {.service = Service::elb, .action = "DescribeLoadBalancers"}))) {
      for (const Xml& each : page.at({"DescribeLoadBalancersResult", "LoadBalancers"}).children)
        add_before(each.text_at({"LoadBalancerName"}), load_balancer_names(""));
    }
    for (const Xml& page : TRY(api_.pages(context_, {.service = Service::elb, .action = "DescribeTargetGroups"}))) {
      for (const Xml& each : page.at({"DescribeTargetGroupsResult", "TargetGroups"}).children)
        add_before(each.text_at({"TargetGroupName"}), target_group_names(""));
    }
    return Ok{};
  }

  Result<> add_zones() {
    Call call{.service = Service::route53, .action = "ListHostedZones", .method = "GET"};
    call.target = "/2013-04-01/hostedzone";
    for (const Xml& page : TRY(api_.pages(context_, std::move(call)))) {
      for (const Xml& each : page.at({"HostedZones"}).children) {
        const std::string& reference = each.text_at({"CallerReference"});
        add(std::string_view(reference).substr(0, reference.find('/')));
      }
    }
    return Ok{};
  }

  // Bucket names have no mark of slipway, so the tag is read.
  Result<> add_buckets() {
    Call call{.service = Service::s3, .action = "ListBuckets", .method = "GET"};
    call.target = "/";
    const Reply reply = TRY(api_.send(context_, call));
    for (const Xml& each : reply.xml.at({"Buckets"}).children) {
      const std::string& name = each.text_at({"Name"});
      const std::string ending = bucket_name("");
      if (!name.ends_with(ending)) continue;
      const std::string id = name.substr(0, name.size() - ending.size());
      if (!assets::is_infra_id(id)) continue;
      Call tagging{.service = Service::s3, .action = "GetBucketTagging", .object = name, .method = "GET"};
      tagging.target = fmt::format("/{}?tagging=", name);
      tagging.expected = {Failure::not_found, Failure::denied};
      const Reply tags = TRY(api_.send(context_, tagging));
      for (const Xml& tag : tags.xml.at({"TagSet"}).children) {
        if (tag.text_at({"Key"}) == cluster_tag(id)) add(id);
      }
    }
    return Ok{};
  }

  const sys::Context& context_;
  Api& api_;
  std::map<std::string, bool> found_;
};

Result<std::optional<OwnedCluster>> read_cluster(const sys::Context& context, Api& api, const std::string& infra_id,
                                                 bool is_proved) {
  Resources own(api, {.infra_id = infra_id});
  const std::vector<plan::Found> found = TRY(own.scan(context));
  OwnedCluster cluster{.infra_id = infra_id};
  bool has_own = false;
  for (const plan::Found& each : found) {
    if (!each.is_ours) continue;
    cluster.resources.push_back(each.key());
    // An image that no cluster uses belongs to all of them. A bucket without tags may belong to another account or program.
    has_own = has_own || (each.kind != image_kind && (each.kind != bucket_kind || each.is_whole));
    // Clusters of other installers have the same cluster_tag() and many of the same names.
    is_proved = is_proved || each.kind == hosted_zone_kind || (each.kind == machine_kind && !each.machine.empty());
  }
  if (!is_proved || !has_own) return std::optional<OwnedCluster>();
  const std::vector<Item> machines = TRY(own.work(context).all(machine_kind));
  for (const Item& machine : machines) {
    const Result<WallTime> created = parse_rfc3339(machine.fact("created"));
    if (created.ok() && (!cluster.created || created.value() < *cluster.created)) cluster.created = created.value();
    const Result<WallTime> expires = parse_rfc3339(machine.fact("expires"));
    if (expires.ok()) cluster.expires = expires.value();
  }
  cluster.priced = priced_items(machines, found);
  return std::optional(std::move(cluster));
}

}  // namespace

Result<std::vector<OwnedCluster>> owned_clusters(const sys::Context& context, Api& api) {
  std::vector<OwnedCluster> clusters;
  for (const auto& [id, is_proved] : TRY(Candidates(context, api).find())) {
    if (std::optional<OwnedCluster> cluster = TRY(read_cluster(context, api, id, is_proved)))
      clusters.push_back(*std::move(cluster));
  }
  return clusters;
}

}  // namespace slipway::provider::aws
