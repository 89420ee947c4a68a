// What the errors of OpenStack's services mean for a caller. Pure.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace slipway::provider::openstack {

enum class Failure {
  throttled,   // not executed: too many calls, or the service is overloaded. Repeat later
  unanswered,  // may have been executed: an internal error of the service, or of a proxy before it
  expired,     // the token is not valid any more
  denied,      // the user may not do this
  quota,       // a limit of the project is reached
  not_found,   // the object, or one that it refers to, does not exist
  exists,      // exists already: perhaps of an earlier call whose answer was lost
  in_use,      // may succeed when other objects are removed, or when a change of the object has ended
  invalid,     // everything else
};

// The error of an answer.
struct ServiceError {
  int status = 0;
  std::string type{};  // Neutron's: "SecurityGroupInUse"; empty: the answer has none
  std::string message{};
  std::string request_id{};
};

// Reads the body of an answer. Each service has a form of its own: JSON with the error in a member, or HTML.
ServiceError read_error(int status, std::string_view body);

Failure classify(const ServiceError& error);

// The error of a call, for callers of the provider.
//
//   call  "Nova CreateServer demo-x7k2p-master-0"
Error to_error(const ServiceError& error, std::string_view call);

}  // namespace slipway::provider::openstack
