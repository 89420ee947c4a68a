#include "provider/vsphere/failure.h"

#include <gtest/gtest.h>

namespace slipway::provider::vsphere {
namespace {

TEST(VsphereFailure, FaultsHaveAMeaning) {
  struct Case {
    std::string type;
    Failure failure;
    Code code;
  };
  for (const Case& each : {Case{"NotAuthenticated", Failure::expired, Code::unavailable},
                           {"InvalidLogin", Failure::wrong_login, Code::denied},
                           {"NoPermission", Failure::denied, Code::denied},
                           {"DuplicateName", Failure::exists, Code::unavailable},
                           {"TaskInProgress", Failure::busy, Code::unavailable},
                           {"ManagedObjectNotFound", Failure::not_found, Code::not_found},
                           {"ResourceInUse", Failure::in_use, Code::conflict},
                           {"InvalidPowerState", Failure::power_state, Code::conflict},
                           {"NoDiskSpace", Failure::no_space, Code::invalid},
                           {"HostNotConnected", Failure::unreachable, Code::unavailable},
                           {"InvalidArgument", Failure::invalid, Code::invalid},
                           {"", Failure::invalid, Code::invalid}}) {
    const Fault fault{.type = each.type, .message = "no"};
    EXPECT_EQ(classify(fault), each.failure) << each.type;
    EXPECT_EQ(to_error(fault, "call").code(), each.code) << each.type;
  }
}

TEST(VsphereFailure, NamesTheMissingPrivilege) {
  const Fault fault{.type = "NoPermission",
                    .message = "Permission was denied.",
                    .privilege = "Folder.Create",
                    .object = {"Folder", "group-v3"}};
  EXPECT_EQ(
      to_error(fault, "CreateFolder /dc/vm/demo").message(),
      "CreateFolder /dc/vm/demo: Permission was denied. [NoPermission] (give the user the privilege Folder.Create on Folder "
      "group-v3)");
  EXPECT_EQ(to_error({}, "CreateFolder").message(), "CreateFolder: vCenter names no reason");
}

}  // namespace
}  // namespace slipway::provider::vsphere
