// `cloud-credential-operator render`: the CRDs of cloud credentials and the mode of the cluster. It renders no pod: this release
// creates no credentials, users create them (mode Manual) or none are needed.
#pragma once

#include "base/json.h"
#include "components/program/program.h"

namespace slipway::components::cloud_credential {

// The settings in the install-config.
struct CredentialsPlan {
  bool enabled = true;  // the capability CloudCredential
  std::string mode;     // credentialsMode

  bool operator==(const CredentialsPlan&) const = default;
};

// errors: invalid: a mode in which an operator creates credentials
Result<CredentialsPlan> plan_credentials(const Json& install_config);

Result<> run_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::cloud_credential
