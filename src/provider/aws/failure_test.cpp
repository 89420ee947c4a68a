#include "provider/aws/failure.h"

#include <gtest/gtest.h>

namespace slipway::provider::aws {
namespace {

TEST(Failure, IsKnownByCodeThenByStatus) {
  struct Case {
    int status;
    std::string code;
    Failure failure;
  };
  const Case cases[] = {
      {503, "RequestLimitExceeded", Failure::throttled},
      {400, "Throttling", Failure::throttled},
      {400, "ThrottlingException", Failure::throttled},
      {503, "SlowDown", Failure::throttled},
      {429, "", Failure::throttled},
      {503, "Unavailable", Failure::throttled},
      {500, "InternalError", Failure::unanswered},
      {502, "", Failure::unanswered},
      {400, "ExpiredToken", Failure::expired},
      {403, "RequestTimeTooSkewed", Failure::skewed_clock},
      {403, "SignatureDoesNotMatch", Failure::wrong_key},
      {403, "UnauthorizedOperation", Failure::denied},
      {403, "AccessDenied", Failure::denied},
      {403, "", Failure::denied},
      {412, "DryRunOperation", Failure::dry_run},
      {400, "DependencyViolation", Failure::in_use},
      {400, "ResourceInUse", Failure::in_use},
      {409, "DeleteConflict", Failure::in_use},
      {400, "VpcLimitExceeded", Failure::quota},
      {400, "AddressLimitExceeded", Failure::quota},
      {500, "InsufficientInstanceCapacity", Failure::capacity},
      {400, "InvalidVpcID.NotFound", Failure::not_found},
      {400, "TargetGroupNotFound", Failure::not_found},
      {404, "NoSuchEntity", Failure::not_found},
      {404, "", Failure::not_found},
      {400, "InvalidGroup.Duplicate", Failure::exists},
      {409, "EntityAlreadyExists", Failure::exists},
      {400, "RouteAlreadyExists", Failure::exists},
      {400, "Resource.AlreadyAssociated", Failure::exists},
      {400, "Gateway.NotAttached", Failure::not_found},
      {400, "DuplicateLoadBalancerName", Failure::exists},
      {400, "InvalidParameterValue", Failure::invalid},
  };
  for (const Case& c : cases) EXPECT_EQ(classify({c.status, c.code}), c.failure) << c.status << " " << c.code;
  EXPECT_EQ(classify({400, "InvalidParameterValue",
                      "Value (x) for parameter iamInstanceProfile.name is invalid. Invalid IAM "
                      "Instance Profile name"}),
            Failure::not_ready);
}

TEST(Failure, NamesTheMissingPermission) {
  const Error failed =
      to_error({403, "UnauthorizedOperation",
                "You are not authorized to perform this operation. User: arn:aws:iam::1:user/me is not authorized "
                "to perform: ec2:RunInstances on resource: arn:aws:ec2:us-east-1:1:instance/*",
                "req-1"},
               "EC2 RunInstances demo-master-0");
  EXPECT_EQ(failed.code(), Code::denied);
  EXPECT_TRUE(failed.message().starts_with("EC2 RunInstances demo-master-0: You are not authorized")) << failed.message();
  EXPECT_TRUE(failed.message().ends_with("[UnauthorizedOperation, request req-1] (allow ec2:RunInstances)")) << failed.message();
  EXPECT_EQ(missing_permission("Access Denied"), "");
}

TEST(Failure, ExpiredCredentialsAreDenied) {
  const Error failed = to_error({400, "RequestExpired", "Request has expired."}, "EC2 DescribeVpcs");
  EXPECT_EQ(failed.code(), Code::denied);
  EXPECT_NE(failed.message().find("renew the credentials"), std::string::npos);
}

}  // namespace
}  // namespace slipway::provider::aws
