#include "node/approver.h"

#include "base/flags.h"
#include "base/queue.h"
#include "kube/kubeconfig.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <set>
#include <utility>

namespace slipway::node {

namespace {

constexpr std::string_view component = "slipway-approver";
constexpr sys::Pace file_pace{Milliseconds(100), Milliseconds(500)};
constexpr sys::Pace retry_pace{Milliseconds(100), Milliseconds(1000)};
constexpr int tries = 6;

// What the other threads tell the deciding one.
struct Change {
  enum class Kind { requests, nodes, end };
  Kind kind = Kind::end;
  kube::Objects objects{};  // all that there are
};

// Threads: one.
class Approver {
 public:
  Approver(const sys::Context& context, kube::Api& api, const ApproverInput& input)
      : context_(context), api_(api), input_(input) {}

  Result<> take(Change change) {
    if (change.kind == Change::Kind::nodes) {
      nodes_ = std::move(change.objects);
      has_nodes_ = true;
      names_.clear();
      for (const Json& node : nodes_) names_.emplace(kube::name_of(node));
      TRY(label_nodes());
    } else {
      requests_ = std::move(change.objects);
    }
    if (!has_nodes_) return Ok{};
    for (const Json& request : requests_) {
      const auto verdict = judge_request(request, input_.machines ? &*input_.machines : nullptr, names_);
      if (!verdict || approved_.contains(uid_of(request))) continue;
      if (!verdict->approve) {
        leave(request, *verdict);
        continue;
      }
      TRY(approve(request, *verdict));
    }
    return Ok{};
  }

 private:
  static std::string uid_of(const Json& request) {
    return std::string(find_string(request, {"metadata", "uid"}).value_or(kube::name_of(request)));
  }

  // What changed or went in the meantime comes again with its next event.
  template <class T>
  Result<bool> done(Result<T> result) {
    if (result.ok()) return true;
    if (result.error().code() == Code::conflict || result.error().code() == Code::not_found) return false;
    return std::move(result).error();
  }

  Result<> approve(const Json& request, const Verdict& verdict) {
    // The followed list may be some milliseconds old: this one answer must not be.
    const bool is_client = !names_.contains(verdict.node);
    const auto write = [&]() -> Result<bool> {
      if (is_client && TRY(kube::find(context_, api_, kube::types::nodes, "", verdict.node))) return false;
      Json approved = request;
      JsonObject& status = approved.as_object()["status"].is_object() ? approved.as_object()["status"].get_object()
                                                                      : approved.as_object()["status"].emplace_object();
      Json& conditions = status["conditions"];
      if (!conditions.is_array()) conditions.emplace_array();
      conditions.get_array().push_back(
          JsonObject{{"type", "Approved"}, {"status", "True"}, {"reason", verdict.reason}, {"message", verdict.message}});
      return done(kube::update(context_, api_, kube::types::certificate_requests, approved, "approval"));
    };
    if (!TRY(sys::retry<bool>(context_, tries, retry_pace, write))) return Ok{};
    approved_.insert(uid_of(request));
    context_.log.info("approved {} of node {}: {}", kube::describe(request), verdict.node, verdict.message);
    tell(request, verdict, sys::Phase::finished);
    return Ok{};
  }

  void leave(const Json& request, const Verdict& verdict) {
    if (!left_.emplace(uid_of(request), verdict.reason).second) return;
    context_.log.warn("{} stays pending: {}: {}", kube::describe(request), verdict.reason, verdict.message);
    tell(request, verdict, sys::Phase::skipped);
    const Result<> told = kube::emit_event(context_, api_, request, component, "Warning", verdict.reason, verdict.message);
    if (!told.ok()) context_.log.warn("cannot put an Event on it: {}; continuing without", told.error().message());
  }

  void tell(const Json& request, const Verdict& verdict, sys::Phase phase) {
    context_.events.emit({.kind = "certificate-request",
                          .name = std::string(kube::name_of(request)),
                          .phase = phase,
                          .fields = {{"node", verdict.node}, {"reason", verdict.reason}}});
  }

  Result<> label_nodes() {
    if (!input_.machines) return Ok{};
    for (const Json& node : nodes_) {
      const auto patch = role_patch(node, *input_.machines);
      if (!patch) continue;
      const std::string name(kube::name_of(node));
      const auto write = [&] { return done(kube::merge_patch(context_, api_, kube::types::nodes, "", name, *patch)); };
      if (TRY(sys::retry<bool>(context_, tries, retry_pace, write))) context_.log.info("gave node {} its role", name);
    }
    return Ok{};
  }

  const sys::Context& context_;
  kube::Api& api_;
  const ApproverInput& input_;
  kube::Objects requests_;
  kube::Objects nodes_;
  bool has_nodes_ = false;                              // before that nothing is known about who has registered
  std::set<std::string, std::less<>> names_;            // of the nodes
  std::set<std::string> approved_;                      // of requests, by uid: their event may still be under way
  std::set<std::pair<std::string, std::string>> left_;  // uid and reason: one Event each
};

Result<> wait_for_file(const sys::Context& context, sys::Files& files, const std::string& file) {
  return sys::wait_for(
      context, "the end of the bootstrap", no_limit,
      [&]() -> Result<sys::Look> {
        if (TRY(files.info(file))) return sys::Look::done();
        return sys::Look::not_yet("{} is not there", file);
      },
      nullptr, file_pace);
}

}  // namespace

Result<> approve_requests(const Environment& environment, kube::Api& api, const ApproverInput& input) {
  Queue<Change> changes;
  sys::TaskGroup tasks(environment.context);
  // However a task ends, the loop below has to learn of it.
  const auto run = [&](const std::string& name, std::function<Result<>(const sys::Context&)> work) {
    tasks.run(name, [&changes, work = std::move(work)](const sys::Context& context) {
      Result<> result = work(context);
      changes.push({});
      return result;
    });
  };
  run("following certificate requests", [&](const sys::Context& context) {
    return kube::follow(context, api, kube::types::certificate_requests, "", {}, [&](const kube::Objects& found) -> Result<> {
      changes.push({Change::Kind::requests, found});
      return Ok{};
    });
  });
  run("following nodes", [&](const sys::Context& context) {
    return kube::follow(context, api, kube::types::nodes, "", {}, [&](const kube::Objects& found) -> Result<> {
      changes.push({Change::Kind::nodes, found});
      return Ok{};
    });
  });
  run("waiting for the end", [&](const sys::Context& context) { return wait_for_file(context, environment.files, input.until); });

  Approver approver(environment.context, api, input);
  for (;;) {
    auto change = changes.pop(environment.context.stop);
    if (!change || change->kind == Change::Kind::end) break;
    const Result<> taken = approver.take(std::move(*change));
    if (!taken.ok()) return taken;
  }
  tasks.request_stop();
  return tasks.wait();
}

Result<> run_approve(const Environment& environment, const Arguments& arguments) {
  if (arguments.empty() || arguments[0].starts_with('-')) {
    return error(Code::invalid, "usage: approve-csr KUBECONFIG [--machines=FILE] [--until=FILE]");
  }
  const Flags flags = TRY(parse_flags("approve-csr",
                                      {{.name = "machines", .fallback = "/opt/openshift/manifests/machine-addresses.yaml"},
                                       {.name = "until", .fallback = "/opt/openshift/.bootkube.done"}},
                                      {arguments.begin() + 1, arguments.end()}));
  ApproverInput input = {.machines = std::nullopt, .until = flags.text("until")};
  const std::string& table = flags.text("machines");
  if (const auto text = TRY(environment.files.read_if_exists(table))) {
    input.machines = TRY(parse_machine_table(*text, table));
  } else {
    environment.context.log.warn("there is no {}; names and addresses of machines are not checked", table);
  }
  const kube::Access access = TRY(kube::read_kubeconfig(environment.files, arguments[0]));
  kube::Client api(environment.http, access);
  return approve_requests(environment, api, input);
}

}  // namespace slipway::node
