// Inputs of the stages, read once at the start of the bootstrap.
#pragma once

#include "base/result.h"
#include "config/image_mode.h"
#include "sys/files.h"

#include <map>
#include <string>
#include <string_view>

namespace slipway::bootstrap {

// Names of components whose images the stages use. The node tuning operator is optional, so it is not among them.
inline constexpr std::string_view needed_components[] = {
    "machine-config-operator",
    "cluster-etcd-operator",
    "etcd",
    "cluster-config-api",
    "cluster-config-operator",
    "cluster-kube-apiserver-operator",
    "cluster-kube-controller-manager-operator",
    "cluster-kube-scheduler-operator",
    "cluster-ingress-operator",
    "cloud-credential-operator",
    "hyperkube",
    "cluster-policy-controller",
    "cluster-bootstrap",
};
inline constexpr std::string_view node_tuning_operator = "cluster-node-tuning-operator";

inline constexpr const char* image_mode_file = "image-mode.json";  // {"policy": "BuildOnBootstrap"}; below the assets

struct Inputs {
  std::string assets;                                        // "/opt/openshift"
  std::string release_image;                                 // by digest
  std::string version{};                                     // of the release
  std::string kubernetes_version{};                          // "1.36.3"
  std::string cluster_profile{};                             // requested by the user; empty: the default of the release
  std::map<std::string, std::string, std::less<>> images{};  // by component

  // Optional files, which depend on the install-config.
  bool has_cloud_config = false;  // manifests/cloud-provider-config.yaml
  bool has_cloud_ca = false;      // tls/cloud-ca-cert.pem
  bool has_custom_dns = false;    // manifests/openshift-lbconfig-custom-dns.yaml
  bool has_overrides = false;     // original_cvo_overrides.patch

  config::ImageMode image_mode = config::ImageMode::none;  // where the image of the masters comes from

  bool in_place = false;      // this machine becomes the only node (in_place.h)
  bool etcd_stopped = false;  // the in-place installation has stopped etcd on this machine

  // The image of a needed component, or of one for which has_image is true.
  const std::string& image(std::string_view component) const;
  bool has_image(std::string_view component) const { return images.find(component) != images.end(); }
};

// Reads ASSETS/image-references and ASSETS/release-metadata, which release-image.service extracts from the release image, and
// checks which optional files exist.
//
//   errors  not_found: a document does not exist; invalid: from parse_release, all needed components that the release lacks, an
//           unknown policy of image mode
Result<Inputs> read_inputs(sys::Files& files, const std::string& assets, const std::string& release_image);

}  // namespace slipway::bootstrap
