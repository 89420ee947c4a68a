#include "cluster/change_masters.h"

#include "base/digest.h"
#include "base/text.h"
#include "base/yaml.h"
#include "cluster/planned_nodes.h"
#include "cluster/restore.h"
#include "kube/conditions.h"
#include "kube/drain.h"
#include "kube/types.h"
#include "sys/events.h"
#include "sys/wait_for.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

namespace slipway::cluster {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view master = "master";
constexpr std::string_view remove_word = "remove ", add_word = "add ";
constexpr std::string_view etcd_space = "openshift-etcd", members_name = "etcd-members";
constexpr Milliseconds longest_removal = 15min, longest_drain = 10min, drain_slice = 20s, longest_join = 30min,
                       longest_member = 30min, longest_power_off = 24h, longest_silence = 5min;

bool contains(const std::vector<std::string>& texts, std::string_view text) {
  return std::ranges::find(texts, text) != texts.end();
}

const NodeState* node_of(const ControlPlane& seen, std::string_view name) {
  const auto found = std::ranges::find(seen.nodes, name, &NodeState::name);
  return found == seen.nodes.end() ? nullptr : &*found;
}

const provider::MachineStatus* machine_of(const ControlPlane& seen, std::string_view name) {
  const auto found = std::ranges::find(seen.machines, name, &provider::MachineStatus::name);
  return found == seen.machines.end() ? nullptr : &*found;
}

// The member of a machine: by its name, or, before it has started, by its address.
const EtcdMember* member_of(const ControlPlane& seen, std::string_view name) {
  std::vector<std::string> addresses;
  if (const kube::MachineRow* row = kube::find_machine(seen.rows, name)) addresses = row->addresses;
  if (const NodeState* node = node_of(seen, name))
    addresses.insert(addresses.end(), node->addresses.begin(), node->addresses.end());
  const auto found = std::ranges::find_if(seen.members, [&](const EtcdMember& it) {
    return it.name == name || (it.name.empty() && contains(addresses, it.address));
  });
  return found == seen.members.end() ? nullptr : &*found;
}

bool is_known(const ControlPlane& seen, std::string_view name) {
  return node_of(seen, name) || machine_of(seen, name) || kube::find_machine(seen.rows, name);
}

// A master that is not leaving.
bool is_master(const ControlPlane& seen, std::string_view name) {
  const kube::MachineRow* row = kube::find_machine(seen.rows, name);
  return row ? row->role == master : member_of(seen, name) != nullptr;
}

std::string describe(const std::vector<EtcdMember>& members) {
  std::vector<std::string> parts;
  for (const EtcdMember& it : members)
    parts.push_back(fmt::format("{} {}", it.name.empty() ? it.address : it.name,
                                !it.votes       ? "does not vote"
                                : it.is_healthy ? "healthy"
                                                : "not healthy"));
  return join(parts, ", ");
}

// The machine is off before its member is removed, so until then its vote counts: the others must be a quorum of all.
std::optional<std::string> quorum_problem(const ControlPlane& seen, const std::string& removed) {
  const EtcdMember* leaving = member_of(seen, removed);
  std::size_t voters = 0, others = 0, healthy = 0;
  for (const EtcdMember& it : seen.members) {
    voters += it.votes;
    others += it.votes && &it != leaving;
    healthy += it.votes && &it != leaving && it.is_healthy;
  }
  if (healthy >= voters / 2 + 1) return std::nullopt;
  return fmt::format("etcd would lose its quorum without {}: {} ({})", removed, describe(seen.members),
                     healthy == others ? "first add a master with `slipway create master`"
                                       : "start the others first; if most of them are lost for ever: `slipway restore --survivor "
                                         "NAME`");
}

// A name of a Node: lower-case letters, digits, dashes and dots (RFC 1123).
bool is_node_name(std::string_view name) {
  const auto is_inner = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= 253 && is_inner(name.front()) && is_inner(name.back()) &&
         std::ranges::all_of(name, [&](char c) { return is_inner(c) || c == '-' || c == '.'; });
}

// What is left of a change when the master that is removed is gone.
MastersChange rest_of(const MastersChange& change) {
  return change.added.empty() ? change : MastersChange{.removed = {}, .added = change.added};
}

bool continues(const MastersChange& change, const MastersChange& unfinished) {
  return unfinished == change || unfinished == rest_of(change);
}

}  // namespace

std::string to_text(const MastersChange& change) {
  std::vector<std::string> parts;
  if (!change.removed.empty()) parts.push_back(std::string(remove_word) + change.removed);
  if (!change.added.empty()) parts.push_back(std::string(add_word) + change.added);
  return join(parts, ", ");
}

std::optional<MastersChange> parse_change(std::string_view text) {
  MastersChange change;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view words = trim(part);
    if (words.starts_with(remove_word)) change.removed = words.substr(remove_word.size());
    if (words.starts_with(add_word)) change.added = words.substr(add_word.size());
  }
  if (change == MastersChange{}) return std::nullopt;
  return change;
}

Result<std::vector<EtcdMember>> parse_etcd_members(const Json& config_map) {
  const std::string name = kube::describe(config_map);
  const Json list = TRY(parse_json(TRY(require_string(config_map, {"data", "members"}).context(name)), name));
  if (!list.is_array()) return error(Code::invalid, "{}: data.members: must be a list, got {}", name, kind_name(list));
  std::vector<EtcdMember> members;
  for (const Json& each : list.get_array()) {
    members.push_back({.name = text_of(each, {"name"}),
                       .address = text_of(each, {"address"}),
                       .votes = is_true(each, {"votes"}),
                       .is_healthy = is_true(each, {"healthy"}),
                       .leaves = is_true(each, {"leaves"})});
  }
  return members;
}

std::vector<std::string> change_problems(const ControlPlane& seen, const MastersChange& change) {
  std::vector<std::string> problems;
  const std::string &removed = change.removed, &added = change.added;
  if (std::ranges::any_of(seen.members, [](const EtcdMember& it) { return it.name == "etcd-bootstrap"; }))
    problems.emplace_back("the installation is not complete: the bootstrap machine has a member of etcd (wait until it is gone)");
  if (!removed.empty()) {
    if (!is_master(seen, removed)) {
      problems.push_back(
          fmt::format("{} is not a master: the masters are {}", removed, join(kube::names_with_role(seen.rows, master), ", ")));
    } else if (std::optional<std::string> problem = quorum_problem(seen, removed)) {
      problems.push_back(*std::move(problem));
    }
  }
  const auto masters = static_cast<int>(kube::names_with_role(seen.rows, master).size());
  if (!removed.empty() && added.empty() && masters - 1 < seen.replicas) {
    problems.push_back(
        fmt::format("the cluster would have {} masters, but controlPlane.replicas is {} (add one first with `slipway "
                    "create master`, or use `slipway replace master {}`)",
                    masters - 1, seen.replicas, removed));
  }
  if (!added.empty() && !is_node_name(added))
    problems.push_back(fmt::format("'{}' cannot be the name of a node (use lower-case letters, digits and dashes)", added));
  if (added == "bootstrap") problems.emplace_back("bootstrap is the name of the bootstrap machine");
  if (!added.empty() && added != removed && is_known(seen, added))
    problems.push_back(fmt::format("{} exists already (choose the name of no machine and no node)", added));
  return problems;
}

bool gives_up(const MastersChange& change, const MastersChange& unfinished) {
  return change.added.empty() && unfinished.removed.empty() && change.removed == unfinished.added;
}

std::string_view name_of(MasterStep step) {
  switch (step) {
    case MasterStep::begin: return "begin";
    case MasterStep::await_operator: return "await-operator";
    case MasterStep::drain: return "drain";
    case MasterStep::remove_machine: return "remove-machine";
    case MasterStep::await_power_off: return "await-power-off";
    case MasterStep::await_removal: return "await-removal";
    case MasterStep::remove_node: return "remove-node";
    case MasterStep::forget: return "forget";
    case MasterStep::make_machine: return "make-machine";
    case MasterStep::admit: return "admit";
    case MasterStep::await_machine: return "await-machine";
    case MasterStep::await_node: return "await-node";
    case MasterStep::await_member: return "await-member";
    case MasterStep::finish: return "finish";
    case MasterStep::done: return "done";
  }
  return "";
}

MasterStep next_step(const ControlPlane& seen, const MastersChange& change, bool is_drained) {
  if (!seen.unfinished || gives_up(change, *seen.unfinished)) return MasterStep::begin;
  const std::string& removed = seen.unfinished->removed;
  if (!removed.empty()) {
    const NodeState* node = node_of(seen, removed);
    const provider::MachineStatus* machine = machine_of(seen, removed);
    const EtcdMember* member = member_of(seen, removed);
    if (member && !member->leaves) return MasterStep::await_operator;
    // For some seconds the Node of a machine that is gone is still Ready.
    const bool may_answer = !seen.makes_machines || (machine && machine->is_on);
    if (node && node->is_ready && may_answer && !is_drained) return MasterStep::drain;
    if (machine) return MasterStep::remove_machine;
    const bool is_on = (node && node->is_ready) || (member && member->is_healthy);
    if (is_on && !seen.makes_machines) return MasterStep::await_power_off;
    if (member) return MasterStep::await_removal;
    if (node) return MasterStep::remove_node;
    return kube::is_removed(seen.rows, removed) || !change.added.empty() ? MasterStep::forget : MasterStep::finish;
  }
  const std::string& added = change.added;
  if (added.empty()) return MasterStep::finish;
  if (seen.makes_machines && !machine_of(seen, added)) return MasterStep::make_machine;
  if (!is_master(seen, added)) return MasterStep::admit;
  const NodeState* node = node_of(seen, added);
  if (!node && !seen.makes_machines) return MasterStep::await_machine;
  if (!node || !node->is_ready) return MasterStep::await_node;
  const EtcdMember* member = member_of(seen, added);
  return member && member->votes && member->is_healthy ? MasterStep::finish : MasterStep::await_member;
}

std::string next_master_name(const ControlPlane& seen) {
  for (int i = 0;; ++i) {
    std::string name = fmt::format("master-{}", i);
    if (!is_known(seen, name)) return name;
  }
}

namespace {

// Makes one step after the other.
class Change {
 public:
  Change(const Environment& environment, const MastersPlace& where) : context_(environment.context), where_(where) {}

  Result<MastersChange> run(MastersChange wanted, bool is_addition) {
    ControlPlane seen = TRY(observe_patiently());
    if (is_addition && wanted.added.empty())
      wanted.added = seen.unfinished && seen.unfinished->removed.empty() ? seen.unfinished->added : next_master_name(seen);
    TRY(check(seen, wanted));
    while (true) {
      const MasterStep step = next_step(seen, wanted, is_drained_);
      if (step == MasterStep::done) return wanted;
      sys::Span span(context_.events, context_.clock, "step", fmt::format("master-{}", name_of(step)),
                     {{"description", describe(step, wanted)}});
      TRY(span.end(attempt(step, seen, wanted)));
      if (step == MasterStep::finish) return wanted;
      seen = TRY(observe_patiently());
      // Another host may continue the same change.
      if (!seen.unfinished) return wanted;
      if (!continues(wanted, *seen.unfinished)) return is_being_changed(*seen.unfinished);
    }
  }

 private:
  Result<> check(const ControlPlane& seen, const MastersChange& wanted) {
    if (seen.unfinished) {
      if (continues(wanted, *seen.unfinished)) return Ok{};
      if (!gives_up(wanted, *seen.unfinished)) return is_being_changed(*seen.unfinished);
      if (const std::optional<std::string> problem = quorum_problem(seen, wanted.removed))
        return error(Code::invalid, "{}", *problem);
      return Ok{};
    }
    if (where_.machines && !wanted.added.empty()) TRY(where_.machines->check_name(wanted.added));
    const std::vector<std::string> problems = change_problems(seen, wanted);
    if (problems.empty()) return Ok{};
    return error(Code::invalid, "{}", join(problems, "\n"));
  }

  static Error is_being_changed(const MastersChange& unfinished) {
    const std::string give_up =
        unfinished.removed.empty() ? fmt::format("; `slipway destroy master {}` gives it up", unfinished.added) : "";
    return error(Code::conflict, "the masters are being changed: {} (run the command of that change again; it continues{})",
                 to_text(unfinished), give_up);
  }

  static std::string describe(MasterStep step, const MastersChange& change) {
    const std::string &removed = change.removed, &added = change.added;
    switch (step) {
      case MasterStep::begin: return fmt::format("the machine table says: {}", to_text(change));
      case MasterStep::await_operator: return fmt::format("the etcd operator lets go of {}", removed);
      case MasterStep::await_removal: return fmt::format("the member {} is removed from etcd", removed);
      case MasterStep::drain: return fmt::format("{} is drained", removed);
      case MasterStep::remove_machine: return fmt::format("machine {} is removed", removed);
      case MasterStep::await_power_off: return fmt::format("{} is switched off", removed);
      case MasterStep::remove_node: return fmt::format("node {} is removed", removed);
      case MasterStep::forget: return fmt::format("{} is not in the machine table", removed);
      case MasterStep::make_machine: return fmt::format("machine {} is created", added);
      case MasterStep::admit: return fmt::format("{} is in the machine table", added);
      case MasterStep::await_machine: return fmt::format("{} registers with the cluster", added);
      case MasterStep::await_node: return fmt::format("{} is Ready", added);
      case MasterStep::await_member: return fmt::format("{} votes in etcd", added);
      case MasterStep::finish:
      case MasterStep::done: break;
    }
    return "the change is complete";
  }

  // While a master goes, the API may not answer for some seconds.
  template <class T>
  Result<T> patiently(std::string_view what, const std::function<Result<T>()>& work) {
    std::optional<T> value;
    TRY(sys::wait_for(context_, what, longest_silence, [&]() -> Result<sys::Observation> {
      value = TRY(work());
      return sys::Observation::done();
    }));
    return *std::move(value);
  }

  Result<ControlPlane> observe_patiently() {
    return patiently<ControlPlane>("the API of the cluster", [&] { return observe(); });
  }

  Result<Json> read_table() {
    const auto found =
        TRY(kube::find(context_, where_.api, kube::types::config_maps, kube::machine_table_space, kube::machine_table_name));
    if (found) return *found;
    return error(Code::not_found, "ConfigMap {}/{}: not found (`slipway repair` creates it)", kube::machine_table_space,
                 kube::machine_table_name);
  }

  static std::optional<MastersChange> unfinished_change(const Json& table) {
    return parse_change(text_of(table, {"metadata", "annotations", masters_change_annotation}));
  }

  Result<ControlPlane> observe() {
    ControlPlane seen;
    const Json table = TRY(read_table());
    seen.rows = TRY(kube::parse_machine_table(table));
    seen.unfinished = unfinished_change(table);
    const auto members = TRY(kube::find(context_, where_.api, kube::types::config_maps, etcd_space, members_name));
    if (!members) {
      return error(Code::not_found,
                   "ConfigMap {}/{}: not found (update the cluster: its etcd operator writes no list of members)", etcd_space,
                   members_name);
    }
    seen.members = TRY(parse_etcd_members(*members));
    for (const Json& node : TRY(kube::list(context_, where_.api, kube::types::nodes, ""))) {
      NodeState state{.name = std::string(kube::name_of(node)), .is_ready = kube::condition_status(node, "Ready") == "True"};
      for (const Json& address : find_array(node, {"status", "addresses"}))
        state.addresses.push_back(text_of(address, {"address"}));
      seen.nodes.push_back(std::move(state));
    }
    seen.makes_machines = where_.machines != nullptr;
    if (where_.machines) seen.machines = TRY(where_.machines->list(context_));
    seen.replicas = TRY(replicas());
    return seen;
  }

  Result<int> replicas() {
    const Json object = TRY(kube::get(context_, where_.api, kube::types::config_maps, "kube-system", "cluster-config-v1"));
    const std::string name = kube::describe(object);
    const YamlDocument config = TRY(parse_yaml(TRY(require_string(object, {"data", "install-config"}).context(name)), name));
    const Json* count = find(config.value, {"controlPlane", "replicas"});
    return count && count->is_int64() ? static_cast<int>(count->get_int64()) : 3;
  }

  Result<> attempt(MasterStep step, const ControlPlane& seen, const MastersChange& change) {
    switch (step) {
      case MasterStep::begin: return begin(change);
      case MasterStep::await_operator: return await_operator(change.removed);
      case MasterStep::await_removal: return await_removal(change.removed);
      case MasterStep::drain: return drain(change.removed);
      case MasterStep::remove_machine: return remove_machine(seen, change.removed);
      case MasterStep::await_power_off: return await_power_off(seen, change.removed);
      case MasterStep::remove_node:
        return write([&] { return kube::remove(context_, where_.api, kube::types::nodes, "", change.removed); });
      case MasterStep::forget: return forget(change);
      case MasterStep::make_machine: return make_machine(change.added);
      case MasterStep::admit: return admit(seen, change.added);
      case MasterStep::await_machine: return await_machine(change.added);
      case MasterStep::await_node: return await_node(seen, change.added);
      case MasterStep::await_member: return await_member(change.added);
      case MasterStep::finish: return finish(change);
      case MasterStep::done: break;
    }
    return Ok{};
  }

  Result<> write(const std::function<Result<>()>& work) {
    return sys::wait_for(context_, "the API of the cluster", longest_silence, [&]() -> Result<sys::Observation> {
      TRY(work());
      return sys::Observation::done();
    });
  }

  // Changes rows and the annotation together.
  //
  //   change  gets the rows and the change that is not finished; false: nothing is written
  using ChangeRows = std::function<bool(kube::MachineTable&, const std::optional<MastersChange>&)>;
  Result<> change_table(const ChangeRows& change, const std::optional<std::string>& annotation) {
    return write([&]() -> Result<> {
      const Json table = TRY(read_table());
      kube::MachineTable rows = TRY(kube::parse_machine_table(table));
      if (!change(rows, unfinished_change(table))) return Ok{};
      Json next = kube::with_machine_table(table, rows);
      if (annotation) {
        Json& annotations = next.at("metadata").as_object()["annotations"];
        if (!annotations.is_object()) annotations.emplace_object();
        if (annotation->empty()) {
          annotations.get_object().erase(masters_change_annotation);
        } else {
          annotations.get_object()[masters_change_annotation] = *annotation;
        }
      }
      TRY(kube::update(context_, where_.api, kube::types::config_maps, next));
      return Ok{};
    });
  }

  // Another host may have begun another change since this one was checked.
  Result<> begin(const MastersChange& change) {
    std::optional<MastersChange> other;
    TRY(change_table(
        [&](kube::MachineTable& rows, const std::optional<MastersChange>& unfinished) {
          other.reset();
          if (unfinished && *unfinished != change && !gives_up(change, *unfinished)) {
            other = unfinished;
            return false;
          }
          if (change.removed.empty()) return true;
          const auto found = std::ranges::find(rows, change.removed, &kube::MachineRow::name);
          if (found == rows.end()) {
            rows.push_back({change.removed, std::string(kube::removed_role), {}});
          } else {
            found->role = kube::removed_role;
          }
          return true;
        },
        to_text(change)));
    if (other) return is_being_changed(*other);
    return Ok{};
  }

  Result<> await_operator(const std::string& name) {
    const std::string what = fmt::format("the etcd operator to let {} go", name);
    return await_members(what, longest_removal, [&](const ControlPlane& now) -> std::string {
      const EtcdMember* member = member_of(now, name);
      return !member || member->leaves ? "" : "it has not read the machine table (is its pod in openshift-etcd-operator ready?)";
    });
  }

  Result<> await_removal(const std::string& name) {
    return await_members(fmt::format("etcd to let {} go", name), longest_removal, [&](const ControlPlane& now) -> std::string {
      return member_of(now, name) ? fmt::format("{} is a member: {}", name, cluster::describe(now.members)) : "";
    });
  }

  Result<> drain(const std::string& name) {
    is_drained_ = true;
    TRY(write([&] { return kube::set_schedulable(context_, where_.api, name, false); }));
    if (!where_.may_drain) return Ok{};
    const SteadyTime end = context_.clock.steady() + longest_drain;
    while (true) {
      const Result<> drained = kube::drain(context_, where_.api, name, drain_slice);
      if (drained.ok() || drained.error().code() != Code::timeout) return drained;
      // A kubelet that fell silent ends no pods.
      const auto node = TRY(kube::find(context_, where_.api, kube::types::nodes, "", name));
      if (!node || kube::condition_status(*node, "Ready") != "True") return Ok{};
      if (context_.clock.steady() >= end)
        return error(Code::timeout, "{} (use --force to remove the master without draining it)", drained.error().message());
    }
  }

  // Others may have failed since the change began.
  Result<> check_quorum(const ControlPlane& seen, const std::string& name) {
    const EtcdMember* member = member_of(seen, name);
    if (!member || !member->is_healthy) return Ok{};
    const std::optional<std::string> problem = quorum_problem(seen, name);
    return problem ? error(Code::conflict, "{}", *problem) : Result<>(Ok{});
  }

  Result<> remove_machine(const ControlPlane& seen, const std::string& name) {
    TRY(check_quorum(seen, name));
    return where_.machines->remove(context_, name);
  }

  Result<> await_power_off(const ControlPlane& seen, const std::string& name) {
    TRY(check_quorum(seen, name));
    context_.log.warn("switch {} off now, and empty its disk: it has the keys of the control plane", name);
    const std::string what = fmt::format("{} to be off", name);
    TRY(await_nodes(what, longest_power_off, name, [&](const Json* node) -> std::string {
      const bool is_on = node && kube::condition_status(*node, "Ready") == "True";
      return is_on ? fmt::format("the kubelet of {} reports", name) : "";
    }));
    return await_members(what, longest_power_off, [&](const ControlPlane& now) -> std::string {
      const EtcdMember* member = member_of(now, name);
      return member && member->is_healthy ? fmt::format("its member of etcd answers: {}", cluster::describe(now.members)) : "";
    });
  }

  Result<> forget(const MastersChange& change) {
    return change_table(
        [&](kube::MachineTable& rows, const std::optional<MastersChange>& unfinished) {
          std::erase_if(
              rows, [&](const kube::MachineRow& row) { return row.name == change.removed && row.role == kube::removed_role; });
          return unfinished == change;
        },
        to_text(rest_of(change)));
  }

  Result<> make_machine(const std::string& name) {
    const std::string config = TRY(patiently<std::string>("the API of the cluster", [&]() -> Result<std::string> {
      const Json secret = TRY(kube::get(context_, where_.api, kube::types::secrets, "openshift-machine-api", "master-user-data"));
      return base64_decode(TRY(require_string(secret, {"data", "userData"}).context(kube::describe(secret))));
    }));
    TRY(where_.machines->add(context_, name, config));
    return Ok{};
  }

  Result<> admit(const ControlPlane& seen, const std::string& name) {
    const provider::MachineStatus* machine = machine_of(seen, name);
    const kube::MachineRow row{name, std::string(master), machine ? addresses_of(machine->address) : std::vector<std::string>()};
    return change_table(
        [&](kube::MachineTable& rows, const std::optional<MastersChange>& unfinished) {
          std::erase_if(rows, [&](const kube::MachineRow& each) { return each.name == name; });
          rows.push_back(row);
          return unfinished && unfinished->added == name;  // it may have been given up by another host
        },
        std::nullopt);
  }

  Result<> await_machine(const std::string& name) {
    context_.log.warn(
        "start a new machine with the name {} and the Ignition config for masters now: `kubectl get secret master-user-data "
        "--namespace openshift-machine-api --output jsonpath={{.data.userData}} | base64 --decode`",
        name);
    return await_nodes(fmt::format("{} to register", name), longest_power_off, name,
                       [&](const Json* node) -> std::string { return node ? "" : fmt::format("there is no node {}", name); });
  }

  // The machine may be off since an earlier call: its host was, too.
  Result<> await_node(const ControlPlane& seen, const std::string& name) {
    const provider::MachineStatus* machine = machine_of(seen, name);
    if (machine && !machine->is_on) TRY(where_.machines->add(context_, name, ""));
    return await_nodes(fmt::format("{} to be Ready", name), longest_join, name, [&](const Json* node) -> std::string {
      if (node && kube::condition_status(*node, "Ready") == "True") return "";
      std::string missing = node ? fmt::format("{} is not Ready", name) : fmt::format("there is no node {}", name);
      if (!where_.machines) return missing;
      const auto machines = where_.machines->list(context_);
      const std::string why = machines.ok() ? machine_problems(machines.value(), {name}) : "";
      return why.empty() ? missing : fmt::format("{}; {}", missing, why);
    });
  }

  Result<> await_member(const std::string& name) {
    return await_members(fmt::format("{} to vote in etcd", name), longest_member, [&](const ControlPlane& now) -> std::string {
      const EtcdMember* member = member_of(now, name);
      if (member && member->votes && member->is_healthy) return "";
      return fmt::format("{}: {}", name,
                         !member          ? "is not a member of etcd yet"
                         : !member->votes ? "does not vote yet"
                                          : "is not healthy");
    });
  }

  // The static pods of the new master run. Those of others may wait for masters that are not replaced yet.
  Result<> finish(const MastersChange& change) {
    const std::string& added = change.added;
    if (!added.empty()) {
      TRY(kube::wait_until(context_, where_.api, fmt::format("the static pods of {}", added), longest_member, kube::types::pods,
                           "", {.fields = fmt::format("spec.nodeName={}", added)},
                           [&](const kube::Objects& found) -> Result<std::optional<std::string>> {
                             const std::vector<std::string> missing = missing_pods(found, {{added, "", ""}}, "");
                             return missing.empty() ? std::optional<std::string>() : std::optional(join(missing, ", "));
                           }));
    }
    return change_table(
        [&](kube::MachineTable&, const std::optional<MastersChange>& unfinished) { return unfinished == rest_of(change); }, "");
  }

  Result<> await_members(const std::string& what, Milliseconds limit,
                         const std::function<std::string(const ControlPlane&)>& missing) {
    const ControlPlane before = TRY(observe_patiently());
    return kube::wait_until(context_, where_.api, what, limit, kube::types::config_maps, std::string(etcd_space),
                            {.fields = fmt::format("metadata.name={}", members_name)},
                            [&](const kube::Objects& found) -> Result<std::optional<std::string>> {
                              if (found.empty()) return std::optional<std::string>("no list of members");
                              ControlPlane now = before;
                              now.members = TRY(parse_etcd_members(found.front()));
                              std::string why = missing(now);
                              return why.empty() ? std::optional<std::string>() : std::optional(std::move(why));
                            });
  }

  Result<> await_nodes(const std::string& what, Milliseconds limit, const std::string& name,
                       const std::function<std::string(const Json*)>& missing) {
    return kube::wait_until(context_, where_.api, what, limit, kube::types::nodes, "",
                            {.fields = fmt::format("metadata.name={}", name)},
                            [&](const kube::Objects& found) -> Result<std::optional<std::string>> {
                              std::string why = missing(found.empty() ? nullptr : &found.front());
                              return why.empty() ? std::optional<std::string>() : std::optional(std::move(why));
                            });
  }

  const sys::Context& context_;
  const MastersPlace& where_;
  bool is_drained_ = false;
};

}  // namespace

Result<MastersChange> change_masters(const Environment& environment, const MastersPlace& where, MastersChange change,
                                     bool is_addition) {
  return Change(environment, where).run(std::move(change), is_addition);
}

}  // namespace slipway::cluster
