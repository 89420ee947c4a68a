// Secrets and ConfigMaps of render commands, with the labels and annotations that the cluster's operators need to adopt them.
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
  std::string space;  // namespace
  std::string name;
};

ObjectName object_name(std::string_view space, std::string_view name);

// Texts by key, in order.
using Texts = std::vector<std::pair<std::string, std::string>>;

Json config_map(const ObjectName& name, const Texts& data, const Texts& annotations = {}, const Texts& labels = {});

// `data` is not base64-encoded.
Json secret(const ObjectName& name, std::string_view type, const Texts& data, const Texts& annotations = {},
            const Texts& labels = {});

// Metadata of a certificate that an operator will rotate.
struct Rotation {
  std::string component;  // the component that rotates it
  std::string description;
  std::string managed_type{};             // label "signer", "target"; empty: no label
  std::string refresh_period{};           // "36792h0m0s"; empty: no annotation
  std::vector<std::string> host_names{};  // of a server certificate; empty: no annotation
};

// A Secret of type kubernetes.io/tls, with issuer and times of the certificate as annotations. errors: invalid: not a certificate
Result<Json> tls_secret(const ObjectName& name, const net::Certificate& certificate, const Rotation& rotation);

// The object as a YAML file. The mode of a Secret is 0600; upstream uses 0644.
RenderedFile manifest_file(std::string path, const Json& object);

}  // namespace slipway::components
