// A test suite that the real Kubernetes API and FakeKube both pass. kube_suite.cpp is linked into a test program that provides
// the API.
#pragma once

#include "base/json.h"
#include "kube/client.h"

#include <string>

namespace slipway::testing_support {

// Defined by the test program. The server must not have any of the suite's objects.
kube::Api& api_under_test();

// A CustomResourceDefinition of a cluster-scoped type with a status, served as v1.
Json sample_definition(const std::string& group, const std::string& kind, const std::string& plural);

}  // namespace slipway::testing_support
