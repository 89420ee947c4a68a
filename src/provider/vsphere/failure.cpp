#include "provider/vsphere/failure.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::vsphere {

namespace {

struct Row {
  std::string_view fault;
  Failure failure;
};

// Faults are described in the reference of the web service API.
constexpr std::array rows = {
    Row{"NotAuthenticated", Failure::expired},
    Row{"InvalidLogin", Failure::wrong_login},
    Row{"PasswordExpired", Failure::wrong_login},
    Row{"NoPermission", Failure::denied},
    Row{"RestrictedVersion", Failure::denied},
    Row{"DuplicateName", Failure::exists},
    Row{"AlreadyExists", Failure::exists},
    Row{"FileAlreadyExists", Failure::exists},
    Row{"TaskInProgress", Failure::busy},
    Row{"ConcurrentAccess", Failure::busy},
    Row{"FileLocked", Failure::busy},
    Row{"VmConfigFileLocked", Failure::busy},
    Row{"ManagedObjectNotFound", Failure::not_found},
    Row{"NotFound", Failure::not_found},
    Row{"FileNotFound", Failure::not_found},
    Row{"ResourceInUse", Failure::in_use},
    Row{"InvalidPowerState", Failure::power_state},
    Row{"NoDiskSpace", Failure::no_space},
    Row{"InsufficientStorageSpace", Failure::no_space},
    Row{"InsufficientResourcesFault", Failure::no_space},
    Row{"InsufficientMemoryResourcesFault", Failure::no_space},
    Row{"InsufficientCpuResourcesFault", Failure::no_space},
    Row{"InsufficientHostCapacityFault", Failure::no_space},
    Row{"InsufficientFailoverResourcesFault", Failure::no_space},
    Row{"NoActiveHostInCluster", Failure::unreachable},
    Row{"HostCommunication", Failure::unreachable},
    Row{"HostNotConnected", Failure::unreachable},
    Row{"HostNotReachable", Failure::unreachable},
    Row{"HostConnectFault", Failure::unreachable},
    Row{"Timedout", Failure::unreachable},
    Row{"RequestCanceled", Failure::unreachable},
};

}  // namespace

Failure classify(const Fault& fault) {
  const auto row = std::ranges::find(rows, fault.type, &Row::fault);
  return row == rows.end() ? Failure::invalid : row->failure;
}

Error to_error(const Fault& fault, std::string_view call) {
  std::string reason = fault.message.empty() ? fault.type : fault.message;
  if (!fault.message.empty() && !fault.type.empty()) reason += fmt::format(" [{}]", fault.type);
  if (reason.empty()) reason = "vCenter names no reason";
  const auto made = [&](Code code, std::string_view hint = "") {
    return Error(code, fmt::format("{}: {}{}", call, reason, hint.empty() ? "" : fmt::format(" ({})", hint)));
  };
  switch (classify(fault)) {
    case Failure::expired: return made(Code::unavailable, "run the command again");
    case Failure::wrong_login: return made(Code::denied, "check user and password in platform.vsphere.vcenters");
    case Failure::denied:
      if (fault.privilege.empty()) return made(Code::denied, "a privilege is missing");
      return made(Code::denied,
                  fmt::format("give the user the privilege {} on {} {}", fault.privilege, fault.object.type, fault.object.id));
    case Failure::exists:
    case Failure::busy: return made(Code::unavailable, "run the command again when the task of vCenter has ended");
    case Failure::not_found: return made(Code::not_found);
    case Failure::in_use:
    case Failure::power_state: return made(Code::conflict);
    case Failure::no_space: return made(Code::invalid, "free resources, or use another datastore or cluster of hosts");
    case Failure::unreachable: return made(Code::unavailable, "run the command again later");
    case Failure::invalid: break;
  }
  return made(Code::invalid);
}

}  // namespace slipway::provider::vsphere
