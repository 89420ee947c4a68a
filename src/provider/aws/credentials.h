// Finds the credentials for AWS where its own tools look for them, in their order:
//
//   1. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
//   2. AWS_ROLE_ARN with AWS_WEB_IDENTITY_TOKEN_FILE
//   3. the profile AWS_PROFILE, or "default", in ~/.aws/credentials and ~/.aws/config: keys, or role_arn with source_profile
//   4. the role of the instance that slipway runs on, unless AWS_EC2_METADATA_DISABLED is "true"
#pragma once

#include "net/environment.h"
#include "provider/aws/signature.h"

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace slipway::provider::aws {

// Environment variables: the value, or empty.
using Variables = std::function<std::string(const std::string& name)>;

// The sections of an INI file as AWS's tools write it: settings by name. "[profile x]" is section "x". Lines that are indented
// belong to nested settings and are left out.
using Profiles = std::map<std::string, std::map<std::string, std::string>>;
Profiles parse_profiles(std::string_view text);

// A role that must be assumed to get the credentials.
struct AssumedRole {
  std::string arn;
  std::string session;      // role_session_name
  std::string external_id;  // may be empty
  std::string token_file;   // of a web identity; empty: signed with `base`
  Credentials base;
};

// What the environment and the files say.
struct FoundCredentials {
  std::optional<Credentials> keys{};
  std::optional<AssumedRole> role{};
  bool asks_instance = false;        // neither of both: the instance may have a role
  std::vector<std::string> tried{};  // for messages
  std::string region{};              // AWS_REGION or of the profile; may be empty
};

// errors: denied: the chosen profile does not exist or needs something that slipway does not support, by name; those of files
Result<FoundCredentials> find_credentials(sys::Files& files, const Variables& variables);

// The credentials of one run. Temporary ones that slipway got itself are renewed before they end. Threads: any.
class CredentialStore {
 public:
  // Calls AssumeRole or AssumeRoleWithWebIdentity.
  using Assume = std::function<Result<Credentials>(const AssumedRole& role)>;

  CredentialStore(const net::Environment& environment, Variables variables, Assume assume);

  // Gets temporary credentials by `fetch` alone.
  CredentialStore(const net::Environment& environment, std::function<Result<Credentials>()> fetch);

  // errors: denied: none found, with all that was tried
  Result<Credentials> get();

  // After a call has said that the credentials have ended: gets new ones. False if the user must renew them.
  bool renew();

 private:
  Result<Credentials> fetch();
  Result<std::optional<Credentials>> from_instance();

  const net::Environment environment_;
  const Variables variables_;
  const Assume assume_;
  const std::function<Result<Credentials>()> fetch_;  // empty: from the environment and the files
  std::mutex mutex_;
  std::optional<Credentials> known_;
  bool can_renew_ = false;
};

}  // namespace slipway::provider::aws
