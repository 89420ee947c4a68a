// Templates with placeholders "{{NAME}}", for files on machines. Templates are files in data/, never strings in code.
//
//   fill_template("Image={{IMAGE}}\n", "kubelet.service", {{"IMAGE", "r.example.com/pod@sha256:..."}})
//
// A placeholder's name has capital letters, digits and underscores. All other text is copied, including the {{.Name}} of other
// template languages and the ${NAME} of shells.
#pragma once

#include "base/result.h"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace slipway {

using TemplateValues = std::map<std::string, std::string, std::less<>>;

// Names of the placeholders in a text.
std::set<std::string, std::less<>> template_holes(std::string_view text);

// Replaces the placeholders of a text by their values.
//
//   name    the text's name in messages, usually the file in data/
//   values  may have more values than the text needs, because many texts share one set
//   errors  invalid, listing all placeholders without a value
Result<std::string> fill_template(std::string_view text, std::string_view name, const TemplateValues& values);

}  // namespace slipway
