// Documents that render commands make: templates of data/components filled in, merged, written as YAML.
#pragma once

#include "base/json.h"
#include "base/template.h"
#include "components/program/program.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components {

// A template of data/components ("etcd/pod.yaml") with its holes filled, as text. errors: invalid: a hole without a value
Result<std::string> fill_text(std::string_view path, const TemplateValues& values);

// The same as a document, for those that get more than text. errors: also invalid: no YAML after filling
Result<Json> fill_document(std::string_view path, const TemplateValues& values);

// Every template below a folder of data/components ("etcd/manifests"), filled, each below `target` under the name it has there.
Result<RenderedFiles> fill_folder(std::string_view folder, std::string_view target, const TemplateValues& values);

// Merges layers of a configuration: objects member by member; anything else is replaced.
Json merge_layers(Json base, const Json& over);

// {"a", "b"} as a list of texts.
Json texts(const std::vector<std::string>& values);

// A text as JSON, and so as YAML on one line, in quotes: for holes that take any text.
std::string quoted(std::string_view text);

}  // namespace slipway::components
