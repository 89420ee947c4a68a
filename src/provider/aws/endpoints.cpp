#include "provider/aws/endpoints.h"

#include "base/check.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::aws {

namespace {

struct Row {
  Service service;
  std::string_view label;
  std::string_view name;      // in signatures, host names and serviceEndpoints
  std::string_view variable;  // the end of AWS_ENDPOINT_URL_
  bool is_global = false;     // one endpoint a partition
};

constexpr std::array rows = {
    Row{Service::ec2, "EC2", "ec2", "EC2"},
    Row{Service::ebs, "EBS", "ebs", "EBS"},
    Row{Service::elb, "Elastic Load Balancing", "elasticloadbalancing", "ELASTIC_LOAD_BALANCING_V2"},
    Row{Service::iam, "IAM", "iam", "IAM", true},
    Row{Service::route53, "Route 53", "route53", "ROUTE_53", true},
    Row{Service::s3, "S3", "s3", "S3"},
    Row{Service::sts, "STS", "sts", "STS"},
    Row{Service::quotas, "Service Quotas", "servicequotas", "SERVICE_QUOTAS"},
};

// The parts of AWS that have accounts of their own.
struct Partition {
  std::string_view regions;  // how their names begin
  std::string_view domain;
  std::string_view global_region;  // in signatures for global services
  std::string_view global_infix;   // in host names of global services
};
constexpr std::array partitions = {
    Partition{"cn-", "amazonaws.com.cn", "cn-north-1", ""},
    Partition{"us-gov-", "amazonaws.com", "us-gov-west-1", ".us-gov"},
    Partition{"us-iso-", "c2s.ic.gov", "us-iso-east-1", ".us-iso-east-1"},
    Partition{"us-isob-", "sc2s.sgov.gov", "us-isob-east-1", ".us-isob-east-1"},
    Partition{"", "amazonaws.com", "us-east-1", ""},
};

const Row& row_of(Service service) {
  const auto found = std::ranges::find(rows, service, &Row::service);
  CHECK(found != rows.end());
  return *found;
}

std::string given_url(const Row& row, const JsonArray& given, const Variables& variables) {
  for (const Json& each : given) {
    if (text_of(each, {"name"}) == row.name) return text_of(each, {"url"});
  }
  const std::string own = variables(fmt::format("AWS_ENDPOINT_URL_{}", row.variable));
  return own.empty() ? variables("AWS_ENDPOINT_URL") : own;
}

}  // namespace

std::string_view to_string(Service service) { return row_of(service).label; }

Result<Endpoint> endpoint_of(Service service, const std::string& region, const JsonArray& given, const Variables& variables) {
  const Row& row = row_of(service);
  const Partition& partition =
      *std::ranges::find_if(partitions, [&](const Partition& each) { return region.starts_with(each.regions); });
  Endpoint made{
      .url = {},
      .scope = {.region = row.is_global ? std::string(partition.global_region) : region, .service = std::string(row.name)}};
  std::string text = given_url(row, given, variables);
  if (text.empty() && row.is_global) text = fmt::format("{}{}.{}", row.name, partition.global_infix, partition.domain);
  if (text.empty()) text = fmt::format("{}.{}.{}", row.name, region, partition.domain);
  if (text.find("://") == std::string::npos) text.insert(0, "https://");
  made.url = TRY(net::parse_url(text).context(fmt::format("the endpoint of {}", row.label)));
  return made;
}

}  // namespace slipway::provider::aws
