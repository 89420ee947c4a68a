// Calls of one vCenter: its web service API (SOAP) and, for tags, its REST API. Logs in when it is needed, and again when a
// session has ended. Waits for tasks without asking again and again (WaitForUpdatesEx).
//
// What is repeated, with growing pauses, within two minutes: calls that vCenter has refused because it is overloaded (429, 503),
// and calls that only read. A call that changes something and has no answer is an error of code unavailable: the caller looks up
// what it has done.
#pragma once

#include "net/environment.h"
#include "provider/vsphere/failure.h"
#include "provider/vsphere/properties.h"
#include "provider/vsphere/soap.h"

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::vsphere {

struct Login {
  std::string server;  // name or address
  int port = 443;
  std::string user;
  Secret password;
};

struct Call {
  std::string method{};     // "CloneVM_Task"
  Reference self{};         // the object whose method it is
  std::string arguments{};  // elements
  std::string object{};     // what it is about, for events and messages: "demo-x7k2p-master-0"
  bool changes = false;     // something on the platform
  bool advances = false;    // the next answer goes on after this one, so a lost one is an error: what it said is not said again
};

// What vCenter names for its own services.
struct Services {
  Reference root_folder{}, property_collector{}, session_manager{}, search_index{}, ovf_manager{}, authorization_manager{};
  std::string version{};      // "8.0.2"
  std::string instance_id{};  // of this vCenter
};

// Threads: any.
class Vcenter {
 public:
  // authorities: PEM; empty: those of the system
  Vcenter(const net::Environment& environment, Login login, std::string authorities);
  Vcenter(const Vcenter&) = delete;
  Vcenter& operator=(const Vcenter&) = delete;
  ~Vcenter();  // logs out

  const std::string& server() const { return login_.server; }
  const std::string& user() const { return login_.user; }

  Result<Services> services(const sys::Context& context);

  // The key of the session, for questions about privileges.
  Result<std::string> session_key(const sys::Context& context);

  // The content of the answer. Each call that changes something is an event of kind "call" (docs/formats/events.md).
  // errors: those of to_error(); unavailable: no answer
  Result<Xml> send(const sys::Context& context, const Call& call);

  // The same; a fault that classify() gives `expected` is no error: an empty answer.
  Result<std::optional<Xml>> send_unless(const sys::Context& context, const Call& call, Failure expected);

  // Starts a task and waits until it ends. Returns its result. errors: also those of the task
  Result<Xml> run(const sys::Context& context, const Call& call);

  // The object at a path of the inventory, "/DC/vm/FOLDER".
  Result<std::optional<Reference>> find(const sys::Context& context, const std::string& path);

  // All objects of these types that the user may see.
  Result<std::vector<Object>> all(const sys::Context& context, const std::vector<Properties>& wanted);

  // errors: not_found: the object does not exist (any more)
  Result<Object> read(const sys::Context& context, const Reference& object, std::vector<std::string> paths);

  // Calls `look` with the object's properties, at once and after each change, until it returns false. Blocks.
  // errors: those of look; not_found: the object does not exist (any more); cancelled
  Result<> watch(const sys::Context& context, const std::vector<Reference>& objects, const Properties& wanted,
                 const std::function<Result<bool>(const Object&)>& look);

  // A call of the REST API. errors: not_found, denied, conflict (exists), unavailable, invalid
  Result<Json> rest(const sys::Context& context, std::string_view method, const std::string& path, const Json& body = nullptr,
                    std::string_view object = "");

  // Sends a file to where a lease of vCenter wants it. An address of any host (`*`) is that of this vCenter.
  // errors: unavailable, invalid, denied
  Result<> upload(const sys::Context& context, std::string url, std::uint64_t size,
                  const std::function<Result<std::size_t>(char* buffer, std::size_t size)>& reader, std::string_view object);

 private:
  struct Attempt;

  net::Request base_request(std::string target) const;
  Result<Attempt> try_once(const sys::Context& context, const Call& call, const std::string& cookie);
  Result<Response> exchange(const sys::Context& context, const Call& call);
  Result<std::string> cookie(const sys::Context& context, const std::string& failed);
  Result<std::string> rest_token(const sys::Context& context, const std::string& failed);
  void report(const sys::Context& context, std::string_view name, std::string_view object, int attempts, SteadyTime begin,
              const std::optional<std::string>& failure);
  std::string next_operation();

  const net::Environment environment_;
  const Login login_;
  const std::string authorities_;
  const std::string run_;   // part of all operation IDs of this object
  std::mutex login_mutex_;  // held during a login, so that there is one session
  std::mutex mutex_;        // of the members below
  std::string cookie_;
  std::string session_key_;
  std::string rest_token_;
  std::optional<Services> services_;
  std::uint64_t operations_ = 0;
};

}  // namespace slipway::provider::vsphere
