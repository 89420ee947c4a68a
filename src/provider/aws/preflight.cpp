#include "provider/aws/preflight.h"

#include "base/number.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

namespace slipway::provider::aws {

namespace {

// Calls of EC2 whose permissions a dry run shows. The other services have no dry runs.
struct DryRun {
  std::string_view action;
  Parameters parameters;
};

std::vector<DryRun> dry_runs(const plan::Plan& plan) {
  std::vector<DryRun> all = {{"CreateSecurityGroup", {{"GroupName", "slipway-dry-run"}, {"GroupDescription", "dry run"}}},
                             {"CreateTags", {{"ResourceId.1", "i-00000000000000000"}, {"Tag.1.Key", "k"}, {"Tag.1.Value", "v"}}}};
  const auto machine = std::ranges::find(plan, machine_kind, &plan::Resource::kind);
  if (machine != plan.end()) {
    all.push_back({"RunInstances", {{"InstanceType", text(*machine, "type")}, {"MinCount", "1"}, {"MaxCount", "1"}}});
    if (const std::string image = text(*machine, "image"); image.starts_with("id:"))
      all.back().parameters.emplace_back("ImageId", image.substr(3));
    all.push_back({"TerminateInstances", {{"InstanceId.1", "i-00000000000000000"}}});
  }
  const bool has_network = std::ranges::find(plan, vpc_kind, &plan::Resource::kind) != plan.end();
  if (has_network) {
    all.push_back({"CreateVpc", {{"CidrBlock", "10.0.0.0/16"}}});
    all.push_back({"CreateInternetGateway", {}});
    all.push_back({"AllocateAddress", {{"Domain", "vpc"}}});
  }
  return all;
}

Result<> check_permissions(const Work& work, const plan::Plan& plan, AccountCheck& check) {
  for (const DryRun& each : dry_runs(plan)) {
    Call call{.action = std::string(each.action),
              .object = "dry run",
              .parameters = each.parameters,
              .expected = {Failure::dry_run, Failure::denied, Failure::invalid, Failure::not_found, Failure::quota}};
    call.parameters.emplace_back("DryRun", "true");
    const Reply reply = TRY(work.send(call));
    if (!reply.failure || classify(*reply.failure) != Failure::denied) continue;
    std::string named = missing_permission(reply.failure->message);
    if (named.empty()) named = fmt::format("ec2:{}", each.action);
    check.problems.error({}, "permissions", "EC2 {} is not allowed", each.action).hint(fmt::format("allow {}", named));
    check.missing_permissions.push_back(std::move(named));
  }
  return Ok{};
}

// What an object of a listing takes from its quota.
int one(const Xml&) { return 1; }

int vcpus_of_reservation(const Xml& reservation) {
  int sum = 0;
  for (const Xml& instance : reservation.at({"instancesSet"}).children) {
    const std::string& state = instance.text_at({"instanceState", "name"});
    const std::string& type = instance.text_at({"instanceType"});
    const bool is_on_demand = instance.text_at({"instanceLifecycle"}).empty();
    if ((state == "running" || state == "pending") && is_on_demand && is_standard(type)) sum += vcpus_of(type);
  }
  return sum;
}

struct QuotaRow {
  std::string_view what;
  std::string_view service;  // of Service Quotas
  std::string_view code;
  std::string_view describe;  // lists what is used
  std::string_view list;
  int Needs::*needed;
  int (*takes)(const Xml& listed);
};
constexpr std::array quota_rows = {
    QuotaRow{"VPCs", "vpc", "L-F678F1CE", "DescribeVpcs", "vpcSet", &Needs::vpcs, one},
    QuotaRow{"Elastic IP addresses", "ec2", "L-0263D0A3", "DescribeAddresses", "addressesSet", &Needs::elastic_ips, one},
    QuotaRow{"vCPUs of standard on-demand instances", "ec2", "L-1216C47A", "DescribeInstances", "reservationSet", &Needs::vcpus,
             vcpus_of_reservation},
};

// Empty if the account may not read it, or Service Quotas does not know it.
Result<std::optional<int>> limit_of(const Work& work, const QuotaRow& row) {
  Call call{.service = Service::quotas, .action = "GetServiceQuota", .object = std::string(row.what), .method = "POST"};
  call.target = "/";
  call.content_type = "application/x-amz-json-1.1";
  call.headers = {{"X-Amz-Target", "ServiceQuotasV20190624.GetServiceQuota"}};
  call.body = emit_json({{"ServiceCode", row.service}, {"QuotaCode", row.code}}, JsonStyle::compact);
  call.expected = {Failure::denied, Failure::not_found, Failure::invalid};
  const Reply reply = TRY(work.send(call));
  if (reply.failure) return std::optional<int>();
  const Json answer = TRY(parse_json(reply.body, "answer of Service Quotas"));
  const Json* value = find(answer, {"Quota", "Value"});
  if (!value || !value->is_number()) return std::optional<int>();
  return std::optional(static_cast<int>(value->to_number<double>()));
}

Result<> check_quotas(const Work& work, const plan::Plan& plan, AccountCheck& check) {
  const Needs needs = needs_of(plan);
  for (const QuotaRow& row : quota_rows) {
    if (needs.*row.needed == 0) continue;
    plan::Quota quota{.what = std::string(row.what), .needed = needs.*row.needed};
    quota.limit = TRY(limit_of(work, row));
    for (const Xml& page : TRY(work.pages({.action = std::string(row.describe)}))) {
      for (const Xml& listed : page.at({row.list}).children) quota.used += row.takes(listed);
    }
    if (!quota.is_enough()) {
      check.problems
          .error({}, "quotas", "{}: the cluster needs {}, {} of {} are used", quota.what, quota.needed, quota.used, *quota.limit)
          .hint("raise the quota, remove what is not needed, or use fewer zones (controlPlane.platform.aws.zones)");
    }
    check.quotas.push_back(std::move(quota));
  }
  return Ok{};
}

Result<> check_images(const Work& work, const config::InstallConfig& config, const plan::Plan& plan, Findings& findings) {
  std::set<std::pair<std::string, std::string>> images;
  for (const plan::Resource& resource : plan) {
    if (resource.kind != machine_kind || !text(resource, "image").starts_with("id:")) continue;
    const bool is_worker = text(resource, "role") == "worker" && !config.compute.empty();
    images.emplace(text(resource, "image").substr(3),
                   (is_worker ? config.compute.front() : config.control_plane).architecture == "arm64" ? "arm64" : "x86_64");
  }
  for (const auto& [image, architecture] : images) {
    const Reply reply = TRY(work.send({.action = "DescribeImages",
                                       .object = image,
                                       .parameters = {{"ImageId.1", image}},
                                       .expected = {Failure::not_found, Failure::invalid}}));
    const Xml& found = reply.xml.at({"imagesSet", "item"});
    if (found.text_at({"imageId"}).empty()) {
      findings.error({}, "amiID", "image {} does not exist in this region", image).hint("copy it to the region");
    } else if (const std::string& own = found.text_at({"architecture"}); !own.empty() && own != architecture) {
      findings.error({}, "amiID", "image {} is for {}, but the machines are {}", image, own, architecture);
    }
  }
  return Ok{};
}

}  // namespace

Result<Region> read_region(const Work& work, const config::InstallConfig& config) {
  Region region{.name = TRY(work.account.api.region())};
  const Reply zones = TRY(work.send(
      {.action = "DescribeAvailabilityZones", .parameters = {{"Filter.1.Name", "state"}, {"Filter.1.Value.1", "available"}}}));
  for (const Xml& zone : zones.xml.at({"availabilityZoneInfo"}).children) {
    const std::string& type = zone.text_at({"zoneType"});
    if (type.empty() || type == "availability-zone") region.zones.push_back(zone.text_at({"zoneName"}));
  }
  std::ranges::sort(region.zones);
  const std::vector<std::string> given = texts_of(config.platform.section, {"subnets"});
  if (given.empty()) return region;
  Parameters parameters;
  for (std::size_t i = 0; i < given.size(); ++i) parameters.emplace_back(fmt::format("SubnetId.{}", i + 1), given[i]);
  const Reply subnets =
      TRY(work.send({.action = "DescribeSubnets", .object = "platform.aws.subnets", .parameters = std::move(parameters)}));
  for (const Xml& subnet : subnets.xml.at({"subnetSet"}).children) {
    const std::string& vpc = subnet.text_at({"vpcId"});
    if (!region.user_vpc.empty() && region.user_vpc != vpc) {
      return error(Code::invalid, "platform.aws.subnets: are in different networks: {} and {}", region.user_vpc, vpc);
    }
    region.user_vpc = vpc;
    region.subnets.push_back({.id = subnet.text_at({"subnetId"}), .zone = subnet.text_at({"availabilityZone"})});
  }
  // A subnet without a route table of its own uses the main one of the network.
  const Reply tables = TRY(work.send({.action = "DescribeRouteTables",
                                      .object = region.user_vpc,
                                      .parameters = {{"Filter.1.Name", "vpc-id"}, {"Filter.1.Value.1", region.user_vpc}}}));
  std::map<std::string, bool> is_public;
  bool is_main_public = false;
  for (const Xml& table : tables.xml.at({"routeTableSet"}).children) {
    bool has_gateway = false;
    for (const Xml& route : table.at({"routeSet"}).children) {
      has_gateway = has_gateway || route.text_at({"gatewayId"}).starts_with("igw-");
    }
    for (const Xml& each : table.at({"associationSet"}).children) {
      if (each.text_at({"main"}) == "true") is_main_public = has_gateway;
      if (const std::string& subnet = each.text_at({"subnetId"}); !subnet.empty()) is_public[subnet] = has_gateway;
    }
  }
  for (UserSubnet& subnet : region.subnets) {
    const auto known = is_public.find(subnet.id);
    subnet.is_public = known == is_public.end() ? is_main_public : known->second;
  }
  return region;
}

Needs needs_of(const plan::Plan& plan) {
  Needs needs;
  for (const plan::Resource& resource : plan) {
    if (resource.kind == vpc_kind) ++needs.vpcs;
    if (resource.kind == elastic_ip_kind) ++needs.elastic_ips;
    if (resource.kind != machine_kind) continue;
    if (const std::string type = text(resource, "type"); is_standard(type)) needs.vcpus += vcpus_of(type);
  }
  return needs;
}

bool is_standard(std::string_view type) {
  // "im4gn" and "is4gen" are of family I.
  constexpr std::array<std::string_view, 11> families = {"a", "c", "d", "h", "i", "im", "is", "m", "r", "t", "z"};
  return std::ranges::find(families, type.substr(0, type.find_first_of("0123456789"))) != families.end();
}

int vcpus_of(std::string_view type) {
  const std::string_view size = type.substr(type.find('.') + 1);
  constexpr std::string_view large = "xlarge";
  if (!size.ends_with(large)) return size == "medium" && type.starts_with("m") ? 1 : 2;
  const std::string_view times = size.substr(0, size.size() - large.size());
  return 4 * (times.empty() ? 1 : parse_number<int>(times).value_or(1));
}

Result<AccountCheck> check_account(const Work& work, const config::InstallConfig& config, const plan::Plan& plan) {
  AccountCheck check;
  TRY(check_permissions(work, plan, check));
  TRY(check_quotas(work, plan, check));
  TRY(check_images(work, config, plan, check.problems));
  const bool is_published = std::ranges::any_of(
      plan, [](const plan::Resource& resource) { return resource.kind == record_kind && resource.name.starts_with("public/"); });
  if (is_published) {
    const Result<std::string> zone = find_public_zone(work);
    if (!zone.ok() && zone.error().code() != Code::not_found) return zone.error();
    if (!zone.ok()) check.problems.error({}, "baseDomain", "{}", zone.error().message());
  }
  return check;
}

}  // namespace slipway::provider::aws
