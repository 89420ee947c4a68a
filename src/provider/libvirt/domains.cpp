// Domains, and the events of their states.
#include "provider/libvirt/connection_state.h"

#include <array>
#include <span>

namespace slipway::provider::libvirt {

namespace {

using Names = std::span<const std::string_view>;

// The names that virsh has for the numbers of libvirt.
constexpr std::array<std::string_view, 8> states = {"no state",    "running",  "idle",    "paused",
                                                    "in shutdown", "shut off", "crashed", "pmsuspended"};
constexpr std::array<std::string_view, 9> reasons_of_shut_off = {"unknown", "shutdown", "destroyed",     "crashed", "migrated",
                                                                 "saved",   "failed",   "from snapshot", "daemon"};
constexpr std::array<std::string_view, 14> reasons_of_pause = {
    "unknown",       "user",     "migrating", "saving",   "dumping",     "I/O error", "watchdog",
    "from snapshot", "shutdown", "snapshot",  "panicked", "starting up", "post-copy", "post-copy failed"};
constexpr std::array<std::string_view, 2> reasons_of_crash = {"unknown", "panicked"};

struct EventNames {
  std::string_view event;
  Names details;
};
constexpr std::array<std::string_view, 4> defined = {"added", "updated", "renamed", "snapshot"};
constexpr std::array<std::string_view, 2> undefined = {"removed", "renamed"};
constexpr std::array<std::string_view, 5> started = {"booted", "migrated", "restored", "snapshot", "wakeup"};
constexpr std::array<std::string_view, 9> suspended = {"paused",   "migrated",  "I/O error", "watchdog",       "restored",
                                                       "snapshot", "API error", "post-copy", "post-copy error"};
constexpr std::array<std::string_view, 5> resumed = {"unpaused", "migrated", "snapshot", "post-copy", "post-copy failed"};
constexpr std::array<std::string_view, 7> stopped = {"shutdown", "destroyed", "crashed", "migrated",
                                                     "saved",    "failed",    "snapshot"};
constexpr std::array<std::string_view, 3> shut_down = {"finished", "guest request", "host request"};
constexpr std::array<std::string_view, 2> sleeping = {"memory", "disk"};
constexpr std::array<std::string_view, 2> crashed = {"panicked", "crashloaded"};
const std::array<EventNames, 9> event_names = {{{"defined", defined},
                                                {"undefined", undefined},
                                                {"started", started},
                                                {"suspended", suspended},
                                                {"resumed", resumed},
                                                {"stopped", stopped},
                                                {"shutdown", shut_down},
                                                {"pmsuspended", sleeping},
                                                {"crashed", crashed}}};

// Newer versions of libvirt may send other numbers.
std::string name_of(Names names, int number) {
  const auto index = static_cast<std::size_t>(number);
  return std::string(index < names.size() ? names[index] : "unknown");
}

std::string reason_of(int state, int reason) {
  switch (state) {
    case VIR_DOMAIN_SHUTOFF: return name_of(reasons_of_shut_off, reason);
    case VIR_DOMAIN_PAUSED: return name_of(reasons_of_pause, reason);
    case VIR_DOMAIN_CRASHED: return name_of(reasons_of_crash, reason);
    default: return "";
  }
}

// Nothing if it was removed in the meantime.
Result<std::optional<Domain>> describe(const Library& libvirt, virDomainPtr domain) {
  Domain found{.name = libvirt.virDomainGetName(domain)};
  found.xml = take_text(libvirt.virDomainGetXMLDesc(domain, VIR_DOMAIN_XML_INACTIVE));
  int state = 0, reason = 0;
  int active = found.xml.empty() ? -1 : libvirt.virDomainGetState(domain, &state, &reason, 0);
  if (active >= 0) active = libvirt.virDomainIsActive(domain);
  if (active < 0) {
    const Failure failure = last_failure(libvirt);
    if (code_of(failure) == Code::not_found) return std::optional<Domain>();
    return to_error(fmt::format("reading domain {}", found.name), failure);
  }
  found.state = name_of(states, state);
  found.reason = reason_of(state, reason);
  found.is_active = active == 1;
  return std::optional(std::move(found));
}

// One call of follow().
struct Follower {
  const Library& libvirt;
  const std::shared_ptr<Mailbox> mailbox;
  std::deque<DomainEvent> events{};  // under the lock of the mailbox
};

void on_lifecycle(virConnectPtr, virDomainPtr domain, int event, int detail, void* opaque) {
  Follower& follower = **static_cast<std::shared_ptr<Follower>*>(opaque);
  const auto index = static_cast<std::size_t>(event);
  const EventNames names = index < event_names.size() ? event_names[index] : EventNames{"unknown", {}};
  DomainEvent seen{.domain = follower.libvirt.virDomainGetName(domain),
                   .event = std::string(names.event),
                   .detail = name_of(names.details, detail)};
  {
    std::lock_guard lock(follower.mailbox->mutex);
    follower.events.push_back(std::move(seen));
  }
  follower.mailbox->changed.notify_all();
}

}  // namespace

Result<DomainHandle> Connection::State::domain(const std::string& name) const {
  DomainHandle found(libvirt.virDomainLookupByName(connection, name.c_str()), {&libvirt});
  if (found) return found;
  const Failure failure = last_failure(libvirt);
  if (code_of(failure) == Code::not_found) return found;
  return to_error(fmt::format("looking for domain {}", name), failure);
}

Result<std::vector<Domain>> Connection::domains() {
  const Library& libvirt = state_->libvirt;
  std::vector<Domain> all;
  for (const DomainHandle& domain : TRY(list_all<DomainHandle>(libvirt, "listing the domains", [&](virDomainPtr** found) {
         return libvirt.virConnectListAllDomains(state_->connection, found, 0);
       }))) {
    if (std::optional<Domain> described = TRY(describe(libvirt, domain.get()))) all.push_back(*std::move(described));
  }
  return all;
}

Result<std::optional<Domain>> Connection::find_domain(const std::string& name) {
  const DomainHandle domain = TRY(state_->domain(name));
  if (!domain) return std::optional<Domain>();
  return describe(state_->libvirt, domain.get());
}

Result<bool> Connection::starts(const std::string& xml) {
  const Library& libvirt = state_->libvirt;
  const DomainHandle started(libvirt.virDomainCreateXML(state_->connection, xml.c_str(), VIR_DOMAIN_START_AUTODESTROY),
                             {&libvirt});
  if (!started) {
    const Error why = state_->failed(fmt::format("starting domain {}", name_in(xml)));
    if (why.code() == Code::denied || !is_open()) return why;
    return false;
  }
  // QEMU pauses a machine whose processor cannot run.
  int state = 0, reason = 0;
  const bool is_running = libvirt.virDomainGetState(started.get(), &state, &reason, 0) == 0 && state == VIR_DOMAIN_RUNNING;
  libvirt.virDomainDestroy(started.get());
  return is_running;
}

Result<> Connection::define_domain(const std::string& xml) {
  const Library& libvirt = state_->libvirt;
  const DomainHandle made(libvirt.virDomainDefineXML(state_->connection, xml.c_str()), {&libvirt});
  if (made) return Ok{};
  const std::string name = name_in(xml);
  Error why = state_->failed(fmt::format("defining domain {}", name));
  return definition_error(std::move(why), state_->domain(name));
}

Result<> Connection::start_domain(const std::string& name) {
  const Library& libvirt = state_->libvirt;
  const DomainHandle domain = TRY(state_->domain(name));
  if (!domain) return error(Code::not_found, "domain {}: not found on {}", name, uri());
  if (libvirt.virDomainSetAutostart(domain.get(), 1) < 0) {
    return state_->failed(fmt::format("having domain {} started with the host", name));
  }
  if (libvirt.virDomainIsActive(domain.get()) != 1 && libvirt.virDomainCreate(domain.get()) < 0) {
    const Error why = state_->failed(fmt::format("starting domain {}", name));
    if (libvirt.virDomainIsActive(domain.get()) != 1) return why;
  }
  return Ok{};
}

Result<> Connection::remove_domain(const std::string& name) {
  const Library& libvirt = state_->libvirt;
  const DomainHandle domain = TRY(state_->domain(name));
  if (!domain) return Ok{};
  if (libvirt.virDomainIsActive(domain.get()) == 1 && libvirt.virDomainDestroy(domain.get()) < 0) {
    // It may have ended by itself.
    const Error why = state_->failed(fmt::format("stopping domain {}", name));
    if (libvirt.virDomainIsActive(domain.get()) == 1) return why;
  }
  // Drivers without firmware variables and checkpoints refuse the flags for these.
  const unsigned flags = VIR_DOMAIN_UNDEFINE_MANAGED_SAVE | VIR_DOMAIN_UNDEFINE_SNAPSHOTS_METADATA;
  const unsigned more_flags = VIR_DOMAIN_UNDEFINE_CHECKPOINTS_METADATA | VIR_DOMAIN_UNDEFINE_NVRAM;
  if (libvirt.virDomainUndefineFlags(domain.get(), flags | more_flags) == 0) return Ok{};
  if (last_failure(libvirt).code == VIR_ERR_INVALID_ARG && libvirt.virDomainUndefineFlags(domain.get(), flags) == 0) return Ok{};
  const Error why = state_->failed(fmt::format("removing domain {}", name));
  if (why.code() == Code::not_found) return Ok{};
  return why;
}

Result<> Connection::follow(const sys::Context& context, const std::function<void(const DomainEvent&)>& changed) {
  const Library& libvirt = state_->libvirt;
  Mailbox& mailbox = *state_->mailbox;
  // The event loop may deliver an event, and frees its reference, after the end of this function.
  const auto follower = std::make_shared<Follower>(Follower{.libvirt = libvirt, .mailbox = state_->mailbox});
  auto reference = std::make_unique<std::shared_ptr<Follower>>(follower);
  const int id = libvirt.virConnectDomainEventRegisterAny(
      state_->connection, nullptr, VIR_DOMAIN_EVENT_ID_LIFECYCLE,
      // The type of the callback depends on the kind of events.
      reinterpret_cast<virConnectDomainEventGenericCallback>(reinterpret_cast<void (*)()>(&on_lifecycle)), reference.get(),
      [](void* opaque) { delete static_cast<std::shared_ptr<Follower>*>(opaque); });
  if (id < 0) return state_->failed("following the events of " + uri());
  reference.release();
  std::string why_closed;
  while (!context.stop.stop_requested() && why_closed.empty()) {
    std::deque<DomainEvent> events;
    {
      std::unique_lock lock(mailbox.mutex);
      mailbox.changed.wait(lock, context.stop, [&] { return !follower->events.empty() || !mailbox.why_closed.empty(); });
      events.swap(follower->events);
      why_closed = mailbox.why_closed;
    }
    for (const DomainEvent& event : events) changed(event);
  }
  libvirt.virConnectDomainEventDeregisterAny(state_->connection, id);
  if (!why_closed.empty()) return error(Code::unavailable, "the connection to {} ended: {}", uri(), why_closed);
  return error(Code::cancelled, "following the events of {}: stopped", uri());
}

}  // namespace slipway::provider::libvirt
