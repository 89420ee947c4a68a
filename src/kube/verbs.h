// Shared by the verbs and follow. For this folder only.
#pragma once

#include "kube/client.h"

namespace slipway::kube {

// "&labelSelector=...&fieldSelector=...", encoded; empty if there are no selectors.
std::string query_of(const Selection& selection);

// list() with a time limit for each page.
Result<std::vector<Json>> list_within(const sys::Context& context, Api& api, Milliseconds limit, const ResourceType& type,
                                      std::string_view namespace_name, const Selection& selection, std::string* version);

// The same, one object after the other: only one page is in memory. Stores the resourceVersion in `version`.
// errors: also those of `on_object`
Result<> list_each(const sys::Context& context, Api& api, Milliseconds limit, const ResourceType& type,
                   std::string_view namespace_name, const Selection& selection, std::string& version,
                   const std::function<Result<>(Json)>& on_object);

}  // namespace slipway::kube
