// What the verbs share with follow; for this folder only.
#pragma once

#include "kube/client.h"

namespace slipway::kube {

// "&labelSelector=...&fieldSelector=...", encoded; empty when everything is selected.
std::string query_of(const Selection& selection);

// list() with a limit for each page's answer.
Result<std::vector<Json>> list_within(const sys::Context& context, Api& api, Milliseconds limit, const ResourceType& type,
                                      std::string_view namespace_name, const Selection& selection, std::string* version);

}  // namespace slipway::kube
