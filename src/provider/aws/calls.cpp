// The calls that create a resource, for previews.
#include "provider/aws/resources.h"

#include <algorithm>
#include <array>

namespace slipway::provider::aws {

namespace {

struct Row {
  std::string_view kind;
  std::vector<std::string_view> calls;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {vpc_kind, {"EC2 CreateVpc", "EC2 ModifyVpcAttribute"}},
      {internet_gateway_kind, {"EC2 CreateInternetGateway", "EC2 AttachInternetGateway"}},
      {subnet_kind, {"EC2 CreateSubnet"}},
      {elastic_ip_kind, {"EC2 AllocateAddress"}},
      {nat_gateway_kind, {"EC2 CreateNatGateway"}},
      {route_table_kind, {"EC2 CreateRouteTable", "EC2 CreateRoute"}},  // and one for each subnet
      {security_group_kind, {"EC2 CreateSecurityGroup"}},
      {security_rules_kind, {"EC2 AuthorizeSecurityGroupIngress"}},
      {role_kind, {"IAM CreateRole", "IAM PutRolePolicy"}},
      {instance_profile_kind, {"IAM CreateInstanceProfile", "IAM AddRoleToInstanceProfile"}},
      {target_group_kind, {"Elastic Load Balancing CreateTargetGroup"}},
      {load_balancer_kind, {"Elastic Load Balancing CreateLoadBalancer", "Elastic Load Balancing ModifyLoadBalancerAttributes"}},
      {listener_kind, {"Elastic Load Balancing CreateListener"}},
      {target_kind, {"Elastic Load Balancing RegisterTargets"}},
      {hosted_zone_kind, {"Route 53 CreateHostedZone", "Route 53 ChangeTagsForResource"}},
      {record_kind, {"Route 53 ChangeResourceRecordSets"}},
      {bucket_kind, {"S3 CreateBucket", "S3 PutBucketTagging", "S3 PutPublicAccessBlock"}},
      {object_kind, {"S3 PutObject"}},
      // Without those that write its blocks.
      {image_kind, {"EBS StartSnapshot", "EBS CompleteSnapshot", "EC2 RegisterImage", "EC2 CreateTags"}},
      {machine_kind, {"EC2 RunInstances"}},
  };
  return all;
}

}  // namespace

std::vector<std::string> Resources::calls_of(const plan::Resource& resource) const {
  std::vector<std::string> calls;
  const auto row = std::ranges::find(rows(), resource.kind, &Row::kind);
  if (row == rows().end()) return calls;
  calls.assign(row->calls.begin(), row->calls.end());
  if (resource.kind == route_table_kind) {
    calls.insert(calls.end(), find_array(resource.spec, {"subnets"}).size(), "EC2 AssociateRouteTable");
  }
  return calls;
}

}  // namespace slipway::provider::aws
