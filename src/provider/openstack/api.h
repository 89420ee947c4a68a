// Calls of OpenStack's services. Each call has a token, is repeated where that is safe, and reported.
//
// What is repeated, with growing pauses, within two minutes:
//   - calls that a service has not executed because of too many calls or because it is overloaded
//   - calls that may be repeated (Effect::none, Effect::once), after a lost answer or an internal error of the service
//   - once, at once: a call whose token has ended, with a new token
// Other calls without an answer are errors of code unavailable: the caller looks up what the call has done.
#pragma once

#include "net/environment.h"
#include "provider/openstack/catalog.h"
#include "provider/openstack/failure.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::openstack {

// What executing a call twice does.
enum class Effect {
  none,   // it only reads
  once,   // the same as executing it once: it sets or removes something
  twice,  // it creates a second object
};

struct Call {
  Service service = Service::nova;
  std::string action{};  // for messages and events: "CreateServer"
  std::string object{};  // what it is about, for events and messages: "demo-x7k2p-master-0"
  Effect effect = Effect::none;
  std::string method = "GET";
  std::string target{};        // below the endpoint: "/servers/detail?name=demo"
  std::string base{};          // a URL instead of the endpoint
  Json body = nullptr;         // null: none
  std::string content{};       // the body, if it is not JSON
  std::string content_file{};  // a file with the body
  std::string content_type{};  // of these two
  std::vector<net::Header> headers{};
  std::string microversion{};  // "2.64"; empty: the oldest
  // Errors that are answers: Reply::failure has them.
  std::vector<Failure> expected{};
};

struct Reply {
  std::optional<ServiceError> failure{};  // one of Call::expected
  Json json = nullptr;                    // null if the answer is no JSON
  std::vector<net::Header> headers{};

  std::string header(std::string_view name) const { return std::string(net::find_header(headers, name).value_or("")); }
};

// Threads: any.
class Api {
 public:
  Api(const net::Environment& environment, Login login);

  // The token of this run. A new one if there is none, if it ends soon, or if it is `refused`.
  // errors: denied: the login is wrong; unavailable
  Result<std::shared_ptr<const Token>> token(const sys::Context& context, const std::string& refused = "");

  // Each call that changes something is an event of kind "call" (docs/formats/events.md).
  //
  //   errors  as classify() and to_error() have them; unavailable: no answer; not_found: the cloud has no such service
  Result<Reply> send(const sys::Context& context, const Call& call);

  // All items of a list. member: of the answers: "servers"
  Result<JsonArray> list(const sys::Context& context, Call call, std::string_view member);

  Result<std::string> endpoint(const sys::Context& context, Service service);
  Result<bool> has_service(const sys::Context& context, Service service);

  // The largest microversion 2.x of Nova.
  Result<int> nova_minor(const sys::Context& context);

  const Login& login() const { return login_; }

 private:
  struct Attempt;
  Result<Token> fetch_token(const sys::Context& context);
  Result<Attempt> exchange(const sys::Context& context, net::Request request);
  Result<Attempt> try_once(const sys::Context& context, const Call& call, const Token& token);
  Result<> pause(const sys::Context& context, Milliseconds pause, Milliseconds at_least, std::string_view what);

  const net::Environment environment_;
  const Login login_;
  std::mutex mutex_;  // of all below; held while a token is fetched
  std::shared_ptr<const Token> token_;
  std::optional<int> nova_minor_;
};

}  // namespace slipway::provider::openstack
