#include "provider/local/owner.h"

#include "provider/local/cgroups.h"
#include "provider/local/egress.h"
#include "provider/local/fleet.h"
#include "provider/local/forwarder.h"
#include "provider/local/kept_release.h"
#include "provider/local/line_socket.h"
#include "provider/local/name_server.h"
#include "provider/local/network.h"
#include "provider/local/owner_descriptors.h"
#include "provider/local/preload.h"
#include "provider/local/process_id.h"
#include "provider/local/registry.h"
#include "provider/local/registry_access.h"
#include "provider/local/service.h"
#include "provider/local/shortage.h"

#include "base/guarded.h"
#include "base/queue.h"
#include "sys/lock.h"
#include "sys/task_group.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <algorithm>
#include <filesystem>
#include <list>
#include <thread>
#include <vector>

namespace slipway::provider::local {

namespace {

// Passes events to all connected clients. Threads: any.
class EventFeed {
 public:
  using Lines = Queue<Answer>;

  void publish(const sys::Event& event) {
    listeners_.with_lock([&](std::vector<Lines*>& listeners) {
      for (Lines* listener : listeners) listener->push(EventLine{event.to_line()});
    });
  }
  void add(Lines& lines) {
    listeners_.with_lock([&](std::vector<Lines*>& listeners) { listeners.push_back(&lines); });
  }
  void remove(Lines& lines) {
    listeners_.with_lock([&](std::vector<Lines*>& listeners) { std::erase(listeners, &lines); });
  }

 private:
  Guarded<std::vector<Lines*>> listeners_;
};

// Answers one request on one connection.
class RequestHandler {
 public:
  RequestHandler(LineSocket socket, Fleet& fleet, EventFeed& feed, std::stop_source& ending)
      : socket_(std::move(socket)), fleet_(fleet), feed_(feed), ending_(ending) {}

  // May be called again after a failure. errors: unavailable: no thread is available
  Result<> start(const sys::Context& context) {
    thread_ = TRY(start_thread([this, context] { serve(context); }));
    return Ok{};
  }

  bool is_over() const {
    return over_.with_lock([](bool over) { return over; });
  }

 private:
  void serve(const sys::Context& context) {
    const Result<> served = answer(context);
    // A client that has disconnected is not logged; its request was carried out.
    if (!served.ok() && served.error().code() != Code::unavailable && served.error().code() != Code::cancelled) {
      context.log.warn("a request failed: {}", served.error().message());
    }
    over_.with_lock([](bool& over) { over = true; });
  }

  Result<> answer(const sys::Context& context) {
    const auto line = TRY(socket_.receive(context.stop));
    if (!line) return Ok{};
    const Result<Request> request = parse_request(*line);
    if (!request.ok()) return socket_.send(to_line(Answer(request.error())));
    if (request->order == Order::follow) return follow(context, request.value());
    if (request->order == Order::follow_events) return stream_events(context);
    EventFeed::Lines lines;
    Result<std::jthread> writer = start_thread([&](std::stop_token stop) { write(lines, std::move(stop)); });
    if (!writer.ok()) return socket_.send(to_line(Answer(writer.error())));  // nothing was done yet
    feed_.add(lines);
    Result<Json> result = request->order == Order::end ? end(context) : fleet_.carry_out(context, request.value());
    feed_.remove(lines);
    lines.push(result.ok() ? Answer(std::move(result).value()) : Answer(std::move(result).error()));
    writer->join();
    if (request->order == Order::end) ending_.request_stop();
    return Ok{};
  }

  // Sends events until the answer to the request is sent.
  void write(EventFeed::Lines& lines, std::stop_token stop) {
    bool connected = true;
    while (const auto answer = lines.pop(stop)) {
      connected = connected && socket_.send(to_line(*answer)).ok();
      if (!std::holds_alternative<EventLine>(*answer)) return;
    }
  }

  Result<Json> end(const sys::Context& context) { return fleet_.carry_out(context, {.order = Order::stop}); }

  Result<> follow(const sys::Context& context, const Request& request) {
    if (request.machines.size() != 1) return socket_.send(to_line(Answer(error(Code::invalid, "follow needs one machine"))));
    const Result<> followed = fleet_.follow_console(context, request.machines[0], [&](const std::string& line) {
      return socket_.send(to_line(Answer(ConsoleLine{line}))).ok();
    });
    return socket_.send(to_line(followed.ok() ? Answer(Json(JsonObject())) : Answer(followed.error())));
  }

  Result<> stream_events(const sys::Context& context) {
    EventFeed::Lines lines;
    feed_.add(lines);
    bool connected = true;
    while (connected) {
      const auto line = lines.pop(context.stop);
      if (!line) break;
      connected = socket_.send(to_line(*line)).ok();
    }
    feed_.remove(lines);
    return Ok{};
  }

  LineSocket socket_;
  Fleet& fleet_;
  EventFeed& feed_;
  std::stop_source& ending_;
  Guarded<bool> over_{false};
  std::jthread thread_;
};

// Mounts a private /run, so that namespaces and locks of the owner's programs are separate from the host's. systemd-nspawn then
// sees the same files on hosts with and without systemd.
Result<> make_private_run(sys::Files& files) {
  if (::mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") != 0)
    return sys::system_error("mounting a private /run");
  return files.make_directories(std::string(run_folder) + "/hosts", 0755);
}

// Mounts the registry's content read-only at another place, because its files belong to a release.
Result<> show_read_only(sys::Files& files, const std::string& folder, const std::string& place) {
  TRY(files.make_directories(place, 0755));
  if (::mount(folder.c_str(), place.c_str(), nullptr, MS_BIND, nullptr) != 0 ||
      ::mount(nullptr, place.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
    return sys::system_error("mounting " + folder);
  }
  return Ok{};
}

// The services on the bridge's address: the name server, and the registry if the cluster has images.
Result<std::vector<Service::Plan>> plan_services(const sys::Context& context, const MachineEnvironment& machine_environment) {
  const std::string address = machine_environment.config.network.gateway(), folder = machine_environment.run_folder;
  const std::string& egress = machine_environment.config.egress_network;
  std::vector<Service::Plan> services = {
      {"the cluster's name server",
       name_server_command(address, machine_environment.domain, folder + "/hosts", machine_environment.config.records,
                           egress.empty() ? "" : egress_name_server(egress)),
       name_server_is_up}};
  if (!egress.empty()) {
    const std::string owner = machine_environment.paths.owner();
    const ProcessId self = TRY(parse_process_id(TRY(machine_environment.files.read(owner)), owner));
    TRY(open_egress(context, machine_environment.runner, machine_environment.config.network, egress));
    services.push_back({"the way out of the cluster", egress_command(egress, self.pid), egress_is_up});
  }
  if (machine_environment.config.images.registry.empty()) return services;
  TRY(keep_registry(context, machine_environment.files, machine_environment.runner, machine_environment.config,
                    machine_environment.paths));
  std::vector<std::string> command;
  if (machine_environment.config.has_own_images) {
    const bool takes_pushes = TRY(has_registry_access(machine_environment.files, machine_environment.paths));
    TRY(machine_environment.files.write(machine_environment.paths.registry_settings(),
                                        registry_settings(machine_environment.config, machine_environment.paths, takes_pushes),
                                        0600));
    command = own_registry_command(machine_environment.config, machine_environment.paths, takes_pushes);
  } else {
    TRY(show_read_only(machine_environment.files, machine_environment.paths.registry(), folder + "/registry"));
    TRY(machine_environment.files.write(folder + "/registry.yaml", registry_config(folder + "/registry", address), 0644));
    command = registry_command(machine_environment.paths.registry_program(), folder + "/registry.yaml");
  }
  auto log = [&machine_environment](std::string_view line) {
    // The registry keeps running if its log cannot be written.
    (void)machine_environment.files.append(machine_environment.paths.registry_log(), fmt::format("{}\n", line), 0600);
  };
  services.push_back({"the cluster's registry", std::move(command), registry_is_up, log});
  return services;
}

// Creates the cluster's copies of the machine OS and images, for new machines. Call it after plan_services.
Result<> keep_machine_parts(const sys::Context& context, const MachineEnvironment& machine_environment) {
  sys::TaskGroup keeping(context);  // both create thousands of hard links, so they run in parallel
  keeping.run("", [&](const sys::Context& c) {
    return keep_os(c, machine_environment.files, machine_environment.runner, machine_environment.config,
                   machine_environment.paths);
  });
  TRY(keep_images(context, machine_environment.files, machine_environment.runner, machine_environment.config,
                  machine_environment.paths));
  if (TRY(machine_environment.files.info(machine_environment.paths.images())))
    TRY(mount_images(machine_environment.files, machine_environment.paths.images(),
                     mounted_images(machine_environment.run_folder)));
  return keeping.wait();
}

std::vector<std::string> shared_devices() {
  std::vector<std::string> found;
  for (const char* device : {"/dev/kmsg", "/dev/fuse"}) {
    if (std::filesystem::exists(device)) found.emplace_back(device);
  }
  return found;
}

// Accepts connections until a stop or Order::end.
Result<> serve_requests(const sys::Context& context, LineListener& listener, Fleet& fleet, EventFeed& feed,
                        const std::string& cluster) {
  std::stop_source ending;
  const std::stop_callback forward_stop(context.stop, [&] { ending.request_stop(); });
  const sys::Context until_end = context.with_stop(ending.get_token());
  std::list<RequestHandler> handlers;
  Shortage shortage(until_end, "the owner of cluster " + cluster);
  for (;;) {
    Result<LineSocket> socket = listener.accept(until_end, shortage);
    if (!socket.ok() && socket.error().code() == Code::cancelled) return Ok{};
    if (!socket.ok()) return std::move(socket).error();
    handlers.remove_if([](const RequestHandler& handler) { return handler.is_over(); });
    RequestHandler& handler = handlers.emplace_back(std::move(socket).value(), fleet, feed, ending);
    const Result<> started = shortage.until_done([&] { return handler.start(until_end); });
    if (!started.ok()) return Ok{};  // stopped
  }
}

Result<> run_cluster(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterPaths& paths,
                     EventFeed& feed, LineSocket& starter) {
  ClusterConfig config = TRY(parse_cluster_config(TRY(files.read(paths.config())), paths.config()));
  config = TRY(with_os_record(context, files, paths, std::move(config)));
  const std::vector<Hierarchy> all = hierarchies(TRY(files.read("/proc/self/mounts")));
  TRY(make_private_run(files));
  TRY(make_bridge(context, runner, config.network));

  sys::Wakeup changed;
  Queue<int> disk_turns;
  for (unsigned turn = 0; turn < std::max(1U, std::thread::hardware_concurrency() / 2); ++turn)
    disk_turns.push(static_cast<int>(turn));
  const std::string domain = config.domain;
  sys::RealRandom random;
  const MachineEnvironment machine_environment{
      files,  runner,           random,  std::move(config), paths, all, std::string(run_folder),
      domain, shared_devices(), changed, disk_turns};
  std::list<Service> services;
  for (Service::Plan& plan : TRY(plan_services(context, machine_environment))) services.emplace_back(std::move(plan));
  // A stop does not end the services, because machines use them until they are off.
  sys::TaskGroup serving(context.with_stop({}));
  for (Service& service : services) serving.run("service", [&](const sys::Context& c) { return service.run(c, runner); });
  TRY(keep_machine_parts(context, machine_environment));  // while the services start
  for (Service& service : services) TRY(service.wait_until_up(context));

  Fleet fleet(context.with_stop({}), machine_environment);
  TRY(fleet.load());
  std::list<Forwarder> forwarders;
  sys::TaskGroup forwarding(context.with_stop({}));
  const auto run_forward = [&](const Forward& forward, Forwarder listening) {
    Forwarder& forwarder = forwarders.emplace_back(std::move(listening));
    forwarding.run("forward " + to_string(forward), [&fleet, &forwarder, forward](const sys::Context& c) -> Result<> {
      const Result<> ended = forwarder.run(
          c, [&] { return forward.is_address() ? forward.target : fleet.address_of(forward.target); }, forward.port);
      // A failed forward does not end the other forwards.
      if (ended.error().code() != Code::cancelled) c.log.error("forward {}: {}", to_string(forward), ended.error().message());
      return Ok{};
    });
  };
  const ClusterConfig& made = machine_environment.config;
  for (const Forward& forward : made.forwards) run_forward(forward, TRY(Forwarder::listen(made.host_address, forward.host_port)));
  for (const int port : made.host_ports)
    run_forward({port, "127.0.0.1", port}, TRY(Forwarder::listen_for_machines(made.network.gateway(), port)));
  if (made.has_own_images && TRY(has_registry_access(files, paths))) {
    // Only people who push need it: if its port is taken now, the cluster runs without it.
    Result<Forwarder> listening = Forwarder::listen(made.host_address, made.push_port);
    if (listening.ok()) {
      run_forward({made.push_port, std::string(push_address), push_port}, std::move(listening).value());
    } else {
      context.log.warn("images cannot be pushed: {}", listening.error().message());
    }
  }
  LineListener listener = TRY(LineListener::listen(paths.folder, paths.control_name()));
  TRY(starter.send("ready"));

  return serve_requests(context, listener, fleet, feed, machine_environment.config.name);
}

}  // namespace

Result<> run_owner(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterPaths& paths) {
  for (int fd : {ready_fd, host_proc_fd, host_network_fd, host_mounts_fd, host_root_fd}) {
    // Other programs must not inherit these: with the descriptor a machine could enter the host's network namespace.
    if (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) return error(Code::invalid, "this command is internal: only slipway starts it");
  }
  LineSocket starter{sys::Fd(ready_fd)};
  EventFeed feed;
  context.events.add_sink([&feed](const sys::Event& event) { feed.publish(event); });
  auto work = [&]() -> Result<> {
    const sys::FileLock lock = TRY(sys::FileLock::acquire(paths.owner_lock(), "cluster in " + paths.folder));
    const ProcessId self = TRY(identify(files, fmt::format("/proc/self/fd/{}", host_proc_fd), "self"));
    TRY(files.write(paths.owner(), to_text(self), 0600));
    return run_cluster(context, files, runner, paths, feed, starter);
  };
  Result<> result = work();
  // After "ready" the starter has closed the socket and the line is lost.
  if (!result.ok()) (void)starter.send(fmt::format("failed: {}", result.error().message()));
  return result;
}

}  // namespace slipway::provider::local
