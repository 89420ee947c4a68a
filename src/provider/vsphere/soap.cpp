#include "provider/vsphere/soap.h"

#include <fmt/core.h>

namespace slipway::provider::vsphere {

namespace {

// What all faults have in common, from the element with their members.
Fault read_fault(const Xml& detail, std::string message) {
  Fault fault{.type = std::string(detail.instance_type()), .message = std::move(message)};
  fault.privilege = detail.text_at({"privilegeId"});
  for (const std::string_view member : {"object", "obj"}) {
    if (detail.has(member)) fault.object = reference_of(detail.at({member}));
  }
  return fault;
}

}  // namespace

std::string element(std::string_view name, std::string_view text) {
  return fmt::format("<{0}>{1}</{0}>", name, escape_xml(text));
}

std::string element(std::string_view name, const Reference& object) {
  return fmt::format("<{0} type=\"{1}\">{2}</{0}>", name, escape_xml(object.type), escape_xml(object.id));
}

std::string element_of(std::string_view name, std::string_view content, std::string_view instance_type) {
  const std::string type = instance_type.empty() ? "" : fmt::format(" xsi:type=\"{}\"", instance_type);
  return fmt::format("<{0}{1}>{2}</{0}>", name, type, content);
}

std::string option(std::string_view name, std::string_view key, std::string_view value) {
  const std::string content = element("key", key) + element_of("value", escape_xml(value), "xsd:string");
  return element_of(name, content, "OptionValue");
}

std::string request(std::string_view method, const Reference& self, std::string_view arguments, std::string_view operation) {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\""
      " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\">"
      "<soapenv:Header><operationID xmlns=\"urn:vim25\">{3}</operationID></soapenv:Header>"
      "<soapenv:Body><{0} xmlns=\"urn:vim25\">{1}{2}</{0}></soapenv:Body></soapenv:Envelope>",
      method, element("_this", self), arguments, escape_xml(operation));
}

Result<Response> parse_response(std::string_view text) {
  const Xml envelope = TRY(parse_xml(text));
  const Xml& body = envelope.at({"Body"});
  if (envelope.name != "Envelope" || body.children.empty()) return error(Code::invalid, "is not an answer of vCenter");
  const Xml& content = body.children.front();
  if (content.name != "Fault") return Response{.content = content};
  const Xml& detail = content.at({"detail"});
  Fault fault = read_fault(detail.children.empty() ? detail : detail.children.front(), content.text_at({"faultstring"}));
  // Some servers write no xsi:type: the element is named NotAuthenticatedFault then.
  if (fault.type.empty() && !detail.children.empty()) {
    std::string_view name = detail.children.front().name;
    constexpr std::string_view ending = "Fault";
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
    fault.type = name;
  }
  return Response{.fault = std::move(fault)};
}

Reference reference_of(const Xml& element) { return {element.attribute("type"), element.text}; }

Fault fault_of(const Xml& error) { return read_fault(error.at({"fault"}), error.text_at({"localizedMessage"})); }

}  // namespace slipway::provider::vsphere
