// Calls of AWS's services. Each call is signed, repeated where that is safe, and reported.
//
// What is repeated, with growing pauses, within two minutes:
//   - throttled calls: AWS has not executed them
//   - calls that may be repeated (Effect::none, Effect::once), after a lost answer or an internal error of the service
//   - calls that name an object that was just created and is not visible everywhere yet (Call::waits_for)
// Other calls without an answer are errors of code unavailable: the caller looks up what the call has done.
#pragma once

#include "net/environment.h"
#include "provider/aws/credentials.h"
#include "provider/aws/endpoints.h"
#include "provider/aws/failure.h"
#include "provider/xml.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::provider::aws {

using Parameters = std::vector<std::pair<std::string, std::string>>;

// What executing a call twice does.
enum class Effect {
  none,   // it only reads
  once,   // the same as executing it once: it has a token, or sets or removes something
  twice,  // it creates a second object
};

struct Call {
  Service service = Service::ec2;
  std::string action{};  // "RunInstances"; for REST services a name for messages
  std::string object{};  // what it is about, for events and messages: "demo-x7k2p-master-0"
  Effect effect = Effect::none;
  // Services with actions: the parameters of the form. Others: the request.
  Parameters parameters{};
  std::string method{};  // empty: a service with actions
  std::string target{};
  std::string content_type{};
  std::string body{};
  std::vector<net::Header> headers{};
  bool is_part = false;  // one of the many calls of one transfer, without an event of its own
  // Errors that are answers: Reply::failure has them.
  std::vector<Failure> expected{};
  // Errors that end when AWS has made an earlier change visible everywhere.
  std::vector<Failure> waits_for{};
};

struct Reply {
  std::optional<ServiceError> failure{};  // one of Call::expected
  Xml xml{};                              // empty if the answer is no XML
  std::string body{};
  std::vector<net::Header> headers{};
};

struct ApiSettings {
  std::string region{};   // empty: of the environment or the profile
  JsonArray endpoints{};  // platform.aws.serviceEndpoints
  std::string role{};     // ARN of a role that is assumed for all calls; empty: none
};

// Threads: any.
class Api {
 public:
  Api(const net::Environment& environment, ApiSettings settings, Variables variables);

  // errors: invalid: no region is known
  Result<std::string> region();

  // Each call that changes something is an event of kind "call" (docs/formats/events.md).
  //
  //   errors  as classify() and to_error() have them; unavailable: no answer
  Result<Reply> send(const sys::Context& context, const Call& call);

  // All pages of a list. The parameter `NextToken`, `Marker` or `marker` gets the value that ends a page.
  Result<std::vector<Xml>> pages(const sys::Context& context, Call call);

  // A URL from which anybody can read an object of S3 until `now` + `lifetime`.
  Result<std::string> presigned(const std::string& target, WallTime now, Seconds lifetime);

 private:
  struct Attempt;
  Result<Credentials> assume(const AssumedRole& role);
  CredentialStore& credentials() { return of_role_ ? *of_role_ : credentials_; }
  Result<net::Request> request_of(const Call& call, const Endpoint& endpoint) const;
  Result<Attempt> try_once(const sys::Context& context, const Call& call, const Credentials* credentials);

  const net::Environment environment_;
  const ApiSettings settings_;
  const Variables variables_;
  CredentialStore credentials_;
  std::optional<CredentialStore> of_role_;  // with ApiSettings::role
};

// "a=1&b=x%20y"
std::string to_form(const Parameters& parameters);

}  // namespace slipway::provider::aws
