// Answers of vCenter and parts of an OVA, any bytes. The first byte selects: a an answer of SOAP, o an OVF descriptor, m the
// manifest of an OVA.
#include "base/check.h"
#include "provider/vsphere/documents.h"
#include "provider/vsphere/failure.h"
#include "provider/vsphere/properties.h"
#include "provider/vsphere/soap.h"
#include "release/ova.h"

#include <cstddef>
#include <cstdint>

namespace {

using namespace slipway;
using namespace slipway::provider;
using namespace slipway::provider::vsphere;

void answer(std::string_view text) {
  const Result<Response> response = parse_response(text);
  if (!response.ok()) return;
  if (response->fault) CHECK(!to_error(*response->fault, "call").message().empty());
  const Xml& result = response->content.at({"returnval"});
  for (const Object& object : page_of(result).objects) {
    for (const auto& [path, value] : object.properties) {
      (void)object.text(path);
      (void)hardware_of(value).ok();
      (void)rules_of(value);
    }
  }
  (void)updates_of(result);
  const Result<ImportSpec> spec = import_spec_of(result);
  // What goes back to vCenter is XML.
  if (spec.ok()) CHECK(parse_xml("<r xmlns:xsi=\"i\">" + import_spec_with(spec->spec, {{"k", "v"}}) + "</r>").ok());
}

void manifest(std::string_view text) {
  for (const release::OvaDigest& each : release::parse_ova_manifest(text)) CHECK(text.find(each.file) != std::string_view::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.empty()) return 0;
  switch (text[0]) {
    case 'a': answer(text.substr(1)); break;
    case 'o': (void)networks_of_descriptor(text.substr(1)).ok(); break;
    case 'm': manifest(text.substr(1)); break;
    default: break;
  }
  return 0;
}
