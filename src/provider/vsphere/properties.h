// Properties of vCenter's objects: what is asked for, and the answers as values. Pure.
#pragma once

#include "provider/vsphere/soap.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::vsphere {

// Properties of a type of objects, by path: "runtime.powerState", "config.extraConfig[\"key\"]".
struct Properties {
  std::string_view type;
  std::vector<std::string> paths{};
};

struct Object {
  Reference self{};
  std::map<std::string, Xml, std::less<>> properties{};

  // The text of a property, of an OptionValue its value; empty if there is none.
  const std::string& text(std::string_view path) const;
  const Xml& at(std::string_view path) const;
};

// A PropertyFilterSpec: all objects of these types below a folder, through folders and datacenters.
std::string filter_below(std::string_view element_name, const Reference& folder, const std::vector<Properties>& wanted);

// The same for single objects.
std::string filter_of(std::string_view element_name, const std::vector<Reference>& objects, const Properties& wanted);

struct Page {
  std::vector<Object> objects{};
  std::string token{};  // of the next page; empty: the last one
};

// The result of RetrievePropertiesEx and ContinueRetrievePropertiesEx.
Page page_of(const Xml& result);

struct Updates {
  std::string version{};
  bool is_truncated = false;         // more follow at once
  std::vector<Object> changed{};     // with the properties that changed; new objects with all
  std::vector<Reference> removed{};  // objects that do not exist any more
};

// The result of WaitForUpdatesEx: an UpdateSet; empty if nothing changed in time.
Updates updates_of(const Xml& result);

}  // namespace slipway::provider::vsphere
