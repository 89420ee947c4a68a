// Messages of vSphere's web service API (SOAP): requests as text, answers as values. Pure.
// https://developer.broadcom.com/xapis/vsphere-web-services-api/latest/
//
// The members of a request have the order of vSphere's schema: vCenter skips what comes later than it expects.
#pragma once

#include "base/result.h"
#include "provider/xml.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::provider::vsphere {

// An object of vCenter, for example {"VirtualMachine", "vm-42"}.
struct Reference {
  std::string type{};
  std::string id{};

  bool operator==(const Reference&) const = default;
  auto operator<=>(const Reference&) const = default;
};

// Elements of a request.
std::string element(std::string_view name, std::string_view text);
std::string element(std::string_view name, const Reference& object);
std::string element_of(std::string_view name, std::string_view content, std::string_view instance_type = "");
std::string option(std::string_view name, std::string_view key, std::string_view value);  // an OptionValue with text

// The whole request.
//
//   operation  identifies the call in vCenter's logs
std::string request(std::string_view method, const Reference& self, std::string_view arguments, std::string_view operation);

// Why a call or a task failed.
struct Fault {
  std::string type{};       // "DuplicateName"; empty: none is named
  std::string message{};    // of vCenter, in its language
  std::string privilege{};  // the missing one, if it is a NoPermission
  Reference object{};       // that it is missing on, or that does not exist
};

// The answer of a call: a fault, or its content ("returnval" and others).
struct Response {
  std::optional<Fault> fault{};
  Xml content{};
};

// errors: invalid: not an answer of SOAP
Result<Response> parse_response(std::string_view text);

// The object that an element refers to; empty if it refers to none.
Reference reference_of(const Xml& element);

// The error of a task or a lease: a LocalizedMethodFault.
Fault fault_of(const Xml& error);

}  // namespace slipway::provider::vsphere
