// Secrets and ConfigMaps that render commands create, with the labels and annotations that the operators of the cluster need to
// take them over.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "components/program/program.h"
#include "net/x509.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::components {

struct ObjectName {
  std::string space;  // its namespace
  std::string name;
};

// Texts by key, in this order.
using Texts = std::vector<std::pair<std::string, std::string>>;

Json config_map(const ObjectName& name, const Texts& data, const Texts& annotations = {}, const Texts& labels = {});

// `data` is what the Secret holds, not encoded.
Json secret(const ObjectName& name, std::string_view type, const Texts& data, const Texts& annotations = {},
            const Texts& labels = {});

// What else is known about a certificate that somebody will rotate.
struct Rotation {
  std::string component;  // who does
  std::string description;
  std::string managed_type{};             // label "signer", "target"; none when empty
  std::string refresh_period{};           // "36792h0m0s"; none when empty
  std::vector<std::string> host_names{};  // of a server; none when empty
};

// Secret kubernetes.io/tls with issuer and times of the certificate as annotations. errors: invalid: no certificate
Result<Json> tls_secret(const ObjectName& name, const net::Certificate& certificate, const Rotation& rotation);

// The object as YAML in a file, 0600 when it is a Secret, where upstream has 0644.
RenderedFile manifest_file(std::string path, const Json& object);

}  // namespace slipway::components
