// Where the services of AWS are. Pure.
#pragma once

#include "base/json.h"
#include "net/url.h"
#include "provider/aws/credentials.h"
#include "provider/aws/signature.h"

#include <string>
#include <string_view>

namespace slipway::provider::aws {

enum class Service { ec2, ebs, elb, iam, route53, s3, sts, quotas };

// "EC2"
std::string_view to_string(Service service);

struct Endpoint {
  net::Url url;  // without a path
  SigningScope scope;
};

// The endpoint of a service: the first one of
//
//   1. platform.aws.serviceEndpoints, by name: ec2, ebs, elasticloadbalancing, iam, route53, s3, sts, servicequotas
//   2. AWS_ENDPOINT_URL_EC2, AWS_ENDPOINT_URL_EBS, AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2, AWS_ENDPOINT_URL_IAM,
//      AWS_ENDPOINT_URL_ROUTE_53, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL_STS, AWS_ENDPOINT_URL_SERVICE_QUOTAS, then
//      AWS_ENDPOINT_URL
//   3. that of the region
//
//   given   platform.aws.serviceEndpoints: [{name, url}]
//   errors  invalid: not a URL
Result<Endpoint> endpoint_of(Service service, const std::string& region, const JsonArray& given, const Variables& variables);

}  // namespace slipway::provider::aws
