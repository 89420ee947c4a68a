// Templates: texts with holes, "{{NAME}}", that end up on machines. The texts are files under data/, never strings in code.
//
//   fill_template("Image={{IMAGE}}\n", "kubelet.service", {{"IMAGE", "r.example.com/pod@sha256:..."}})
//
// A hole is two braces, a name of capital letters, digits and underscores, two braces; everything else, also the {{.Name}} of
// other template languages and the ${NAME} of shells, is text.
#pragma once

#include "base/result.h"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace slipway {

using TemplateValues = std::map<std::string, std::string, std::less<>>;

// The names of the holes in a text.
std::set<std::string, std::less<>> template_holes(std::string_view text);

// The text with its holes filled.
//
//   name    what messages call the text, usually the file under data/
//   values  may have more than this text needs: many texts share one set
//   errors  invalid, naming every hole that has no value
Result<std::string> fill_template(std::string_view text, std::string_view name, const TemplateValues& values);

}  // namespace slipway
