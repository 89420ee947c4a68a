// What the faults of vSphere mean for a caller. Pure.
#pragma once

#include "base/result.h"
#include "provider/vsphere/soap.h"

#include <string>
#include <string_view>

namespace slipway::provider::vsphere {

enum class Failure {
  expired,      // the session has ended; nothing was executed
  wrong_login,  // user or password
  denied,       // a privilege is missing
  exists,       // an object with this name exists: perhaps of an earlier call whose answer was lost
  busy,         // another task works on the object
  not_found,    // the object does not exist any more
  in_use,       // may succeed when other objects are removed
  power_state,  // the machine is on or off already
  no_space,     // a datastore is full, hosts have too little memory
  unreachable,  // vCenter or a host does not answer; may have been executed
  invalid,      // everything else
};

Failure classify(const Fault& fault);

// The error of a call, for callers of the provider.
//
//   call  "CloneVM_Task demo-x7k2p-master-0"
Error to_error(const Fault& fault, std::string_view call);

}  // namespace slipway::provider::vsphere
