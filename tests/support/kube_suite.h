// The suite that the real Kubernetes API and FakeKube both pass: kube_suite.cpp, linked into a test program that says which one.
#pragma once

#include "base/json.h"
#include "kube/client.h"

#include <string>

namespace slipway::testing_support {

// Defined by the program. The server is fresh, or at least has none of the suite's objects.
kube::Api& api_under_test();

// A CustomResourceDefinition of objects of the cluster with a status, served as v1.
Json sample_definition(const std::string& group, const std::string& kind, const std::string& plural);

}  // namespace slipway::testing_support
