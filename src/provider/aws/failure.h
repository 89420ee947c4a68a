// What the errors of AWS mean for a caller. Pure.
#pragma once

#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::provider::aws {

enum class Failure {
  throttled,     // not executed: too many calls, or the service is overloaded. Repeat later
  unanswered,    // may have been executed: an internal error of the service
  expired,       // the credentials have ended
  skewed_clock,  // the clock of this host differs from that of AWS
  wrong_key,     // the credentials are not valid
  denied,        // a permission is missing
  dry_run,       // the call with DryRun would succeed
  quota,         // a limit of the account is reached
  capacity,      // the zone has no such machine now
  not_found,     // does not exist; right after a creation: is not visible yet
  not_ready,     // an object that the call needs is not visible or not available yet
  exists,        // an object with this name exists
  in_use,        // may succeed when other objects are removed
  invalid,       // everything else
};

// The error of an answer.
struct ServiceError {
  int status = 0;
  std::string code{};  // "DependencyViolation"; empty: the answer has none
  std::string message{};
  std::string request_id{};
};

Failure classify(const ServiceError& error);

// The error of a call, for callers of the provider.
//
//   call  "EC2 RunInstances demo-x7k2p-master-0"
Error to_error(const ServiceError& error, std::string_view call);

// The permission that a message of AWS says is missing: "ec2:RunInstances". Empty if the message names none.
std::string missing_permission(std::string_view message);

}  // namespace slipway::provider::aws
