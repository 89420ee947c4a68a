#include "provider/aws/failure.h"

#include "base/characters.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::aws {

namespace {

struct Row {
  std::string_view code;  // the whole code, or its end after a '*', or its beginning before one
  Failure failure;
};

// The first row that fits counts. Codes of EC2, EBS, Elastic Load Balancing, IAM, Route 53, S3, STS and Service Quotas:
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html and the same page of each service.
constexpr std::array rows = {
    Row{"RequestLimitExceeded", Failure::throttled},
    Row{"Throttling*", Failure::throttled},
    Row{"TooManyRequests*", Failure::throttled},
    Row{"PriorRequestNotComplete", Failure::throttled},
    Row{"RequestThrottled*", Failure::throttled},
    Row{"ConcurrentLimitExceeded*", Failure::throttled},
    Row{"SlowDown", Failure::throttled},
    Row{"BandwidthLimitExceeded", Failure::throttled},
    Row{"ExpiredToken*", Failure::expired},
    Row{"RequestExpired", Failure::expired},
    Row{"TokenRefreshRequired", Failure::expired},
    Row{"RequestTimeTooSkewed", Failure::skewed_clock},
    Row{"RequestInTheFuture", Failure::skewed_clock},
    Row{"AuthFailure", Failure::wrong_key},
    Row{"InvalidClientTokenId", Failure::wrong_key},
    Row{"InvalidAccessKeyId", Failure::wrong_key},
    Row{"SignatureDoesNotMatch", Failure::wrong_key},
    Row{"UnrecognizedClientException", Failure::wrong_key},
    Row{"IncompleteSignature*", Failure::wrong_key},
    Row{"MissingAuthenticationToken*", Failure::wrong_key},
    Row{"UnauthorizedOperation", Failure::denied},
    Row{"AccessDenied*", Failure::denied},
    Row{"OptInRequired", Failure::denied},
    Row{"AccountProblem", Failure::denied},
    Row{"DryRunOperation", Failure::dry_run},
    Row{"*InUse", Failure::in_use},
    Row{"InvalidIPAddress.InUse", Failure::in_use},
    Row{"DependencyViolation", Failure::in_use},
    Row{"DeleteConflict", Failure::in_use},
    Row{"BucketNotEmpty", Failure::in_use},
    Row{"HostedZoneNotEmpty", Failure::in_use},
    Row{"OperationAborted", Failure::in_use},
    Row{"OperationNotPermitted", Failure::in_use},
    Row{"ConcurrentModification*", Failure::in_use},
    Row{"Insufficient*Capacity", Failure::capacity},
    Row{"InsufficientInstanceCapacity", Failure::capacity},
    Row{"Unsupported", Failure::capacity},
    Row{"NatGatewayLimitExceeded", Failure::quota},
    Row{"*LimitExceeded", Failure::quota},
    Row{"TooManyBuckets", Failure::quota},
    Row{"TooMany*", Failure::quota},
    Row{"*AlreadyExists", Failure::exists},
    Row{"Resource.AlreadyAssociated", Failure::exists},
    Row{"*.Duplicate", Failure::exists},
    Row{"Duplicate*", Failure::exists},
    Row{"BucketAlreadyOwnedByYou", Failure::exists},
    Row{"*.NotFound", Failure::not_found},
    Row{"*NotFound", Failure::not_found},
    Row{"NoSuch*", Failure::not_found},
    Row{"NotFound", Failure::not_found},
    Row{"Gateway.NotAttached", Failure::not_found},
    Row{"InternalError", Failure::unanswered},
    Row{"InternalFailure", Failure::unanswered},
    Row{"InternalServer*", Failure::unanswered},
    Row{"ServiceQuotaExceeded*", Failure::quota},
    Row{"ResourceNotFound*", Failure::not_found},
    Row{"ServiceFailure", Failure::unanswered},
};

bool fits(std::string_view code, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return code == pattern;
  const std::string_view begin = pattern.substr(0, star), end = pattern.substr(star + 1);
  return code.size() >= begin.size() + end.size() && code.starts_with(begin) && code.ends_with(end);
}

constexpr int status_too_many = 429;
constexpr int status_unavailable = 503;
constexpr int status_denied = 403;
constexpr int status_missing = 404;

}  // namespace

Failure classify(const ServiceError& error) {
  // The profile exists in IAM, and EC2 does not know it yet.
  if (error.code == "InvalidParameterValue" && error.message.find("IAM Instance Profile") != std::string::npos) {
    return Failure::not_ready;
  }
  const auto row = std::ranges::find_if(rows, [&](const Row& each) { return fits(error.code, each.code); });
  if (row != rows.end()) return row->failure;
  if (error.status == status_too_many || error.status == status_unavailable) return Failure::throttled;
  if (error.status >= 500) return Failure::unanswered;
  if (error.code.empty() && error.status == status_denied) return Failure::denied;
  if (error.code.empty() && error.status == status_missing) return Failure::not_found;
  return Failure::invalid;
}

std::string missing_permission(std::string_view message) {
  const std::string_view before = "perform: ";
  const std::size_t found = message.find(before);
  if (found == std::string_view::npos) return "";
  const std::string_view rest = message.substr(found + before.size());
  const auto end = std::ranges::find_if(rest, [](char c) { return !is_letter_or_digit(c) && c != ':' && c != '-'; });
  return std::string(rest.begin(), end);
}

Error to_error(const ServiceError& failed, std::string_view call) {
  std::string reason = failed.message.empty() ? fmt::format("status {}", failed.status) : failed.message;
  std::string id = failed.code;
  if (!failed.request_id.empty()) id += fmt::format("{}request {}", id.empty() ? "" : ", ", failed.request_id);
  if (!id.empty()) reason += fmt::format(" [{}]", id);
  const auto made = [&](Code code, std::string_view hint = "") {
    return Error(code, fmt::format("{}: {}{}", call, reason, hint.empty() ? "" : fmt::format(" ({})", hint)));
  };
  switch (classify(failed)) {
    case Failure::throttled: return made(Code::unavailable, "run the command again later");
    case Failure::unanswered: return made(Code::unavailable, "run the command again");
    case Failure::expired: return made(Code::denied, "renew the credentials, then run the command again");
    case Failure::skewed_clock: return made(Code::denied, "set the clock of this host");
    case Failure::wrong_key: return made(Code::denied, "check the access key, its secret and the session token");
    case Failure::denied: {
      const std::string permission = missing_permission(failed.message);
      return made(Code::denied, permission.empty() ? "a permission is missing" : fmt::format("allow {}", permission));
    }
    case Failure::quota: return made(Code::invalid, "raise the quota of the account, or remove what is not needed");
    case Failure::capacity: return made(Code::unavailable, "run the command again later, or use another instance type or zone");
    case Failure::not_found: return made(Code::not_found);
    case Failure::not_ready: return made(Code::unavailable, "run the command again");
    case Failure::exists:
    case Failure::in_use: return made(Code::conflict);
    case Failure::dry_run:
    case Failure::invalid: break;
  }
  return made(Code::invalid);
}

}  // namespace slipway::provider::aws
