// Documents of render commands: templates of data/components that are filled, merged and written as YAML.
#pragma once

#include "base/json.h"
#include "base/template.h"
#include "components/program/program.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components {

// Fills the placeholders of a template of data/components ("etcd/pod.yaml") and returns the text. errors: invalid: a placeholder
// without a value
Result<std::string> fill_text(std::string_view path, const TemplateValues& values);

// The same as a document, for callers that change it. errors: also invalid: the filled text is not YAML
Result<Json> fill_document(std::string_view path, const TemplateValues& values);

// Fills every template below a folder of data/components ("etcd/manifests"). Each file keeps its name, below `target`.
Result<RenderedFiles> fill_folder(std::string_view folder, std::string_view target, const TemplateValues& values);

// Merges layers of a configuration: objects are merged member by member, everything else is replaced.
Json merge_layers(Json base, const Json& over);

// {"a", "b"} as a JSON list.
Json texts(const std::vector<std::string>& values);

// A text as JSON in quotes, which is also one line of YAML: for placeholders that accept any text.
std::string quoted(std::string_view text);

}  // namespace slipway::components
