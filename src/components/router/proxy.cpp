#include "components/router/proxy.h"

#include "base/number.h"
#include "base/text.h"
#include "components/program/socket_command.h"
#include "components/router/sessions.h"
#include "net/interfaces.h"
#include "net/url.h"
#include "sys/clock.h"

#include <algorithm>
#include <csignal>
#include <set>
#include <thread>

namespace slipway::components::router {

namespace {

using namespace std::chrono_literals;

constexpr Milliseconds answer_limit = 2s;
constexpr Milliseconds start_limit = 30s;
// Polling interval: haproxy does not report when it listens.
constexpr Milliseconds start_poll = 5ms;
constexpr std::size_t max_output = 2'000;
// haproxy's buffer for a line on its socket has 16 KB.
constexpr std::size_t line_limit = 8'000;
// Limit of replaced processes with long connections. If there are more, the oldest process is stopped.
constexpr std::size_t max_old = 32;

// The frontends of haproxy.cfg; the second one exists only while passthrough routes do. haproxy does not accept connections any
// more and closes each connection after its next answer, as after SIGUSR1, but its socket for commands stays open.
constexpr std::string_view accept_no_more =
    "shutdown frontend public; shutdown frontend public_ssl; shutdown frontend own_tls_end";
// Clients may send another request on an idle connection for this time.
constexpr Milliseconds idle_limit = 2s;
// Polling interval: haproxy does not report when only idle connections are left.
constexpr Milliseconds idle_poll = 500ms;

// Whether nothing is left that haproxy could finish. Without its answer, this is not known.
bool is_done_serving(const std::string& socket) {
  const Result<std::vector<net::InterfaceAddress>> own = net::interface_addresses();
  const Result<std::string> sessions = send_socket_command(socket, "show sess all", answer_limit);
  if (!own.ok() || !sessions.ok()) return false;
  return sessions_in_use(sessions.value(), [&](const net::IpAddress& address) {
           return net::is_loopback(to_string(address)) ||
                  std::ranges::any_of(own.value(), [&](const auto& it) { return it.address.address == address; });
         }) == 0;
}

// The text of haproxy's first alert. A prefix with time and process ID ends with " : ".
std::string first_alert(std::string_view words) {
  for (const std::string_view line : split(words, '\n')) {
    const std::size_t mark = line.find(" : ");
    if (line.starts_with("[ALERT]") && mark != std::string_view::npos) return std::string(trim(line.substr(mark + 3)));
  }
  return std::string(trim(words.substr(0, 300)));
}

Result<int> pid_of(const std::string& socket) {
  const std::string text = TRY(send_socket_command(socket, "show info", answer_limit));
  constexpr std::string_view key = "\nPid: ";
  const std::size_t place = text.find(key);
  std::string_view rest = place == std::string::npos ? "" : std::string_view(text).substr(place + key.size());
  const int pid = take_number<int>(rest).value_or(0);
  if (pid <= 0) return error(Code::unavailable, "haproxy did not report its process ID");
  return pid;
}

}  // namespace

struct Proxy::Process {
  explicit Process(sys::Context outer) : context(outer.with_stop(stop.get_token())) {}
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  std::string socket() const { return folder + "/admin.sock"; }
  bool has_ended() const {
    return end.with_lock([](const auto& it) { return it.has_value(); });
  }

  // Not the caller's: the process has to outlive a stop of the router while connections drain.
  std::stop_source stop;
  sys::Context context;
  std::string folder;
  int pid = 0;
  sys::Wakeup ended;
  Guarded<std::optional<std::string>> end;  // why the process ended; nothing: it runs
  std::jthread thread{};                    // last member, so it is joined before the others are destroyed
};

Proxy::Proxy(sys::Files& files, sys::Runner& runner, const Options& options, std::function<void()> changed)
    : files_(files), runner_(runner), options_(options), changed_(std::move(changed)) {}

Proxy::~Proxy() {
  for (const auto& process : old_) process->stop.request_stop();
  if (current_) current_->stop.request_stop();
}

std::unique_ptr<Proxy::Process> Proxy::start(const sys::Context& context, std::string folder, std::vector<std::string> more) {
  auto process = std::make_unique<Process>(context);
  process->folder = std::move(folder);
  std::vector<std::string> words = {"haproxy", "-db", "-f", process->folder + "/haproxy.cfg"};
  words.insert(words.end(), more.begin(), more.end());
  process->thread = std::jthread([this, words = std::move(words), it = process.get()] {
    std::string text;
    sys::Command command{.argv = words, .environment = {"ROUTER_FOLDER=" + it->folder}, .grace = 1s, .output_limit = 1};
    command.on_line = [&](sys::Stream, std::string_view line) {
      if (text.size() < max_output) text += fmt::format("{}\n", line);
      // All other lines are about single servers that change and backends that end.
      if (line.starts_with("[ALERT]") && line.find(" has no server available") == std::string_view::npos) {
        it->context.log.warn("haproxy: {}", line);
      } else {
        it->context.log.debug("haproxy: {}", line);
      }
    };
    const Result<sys::Output> output = runner_.run(it->context, command);
    std::string end = output.ok() ? first_alert(text) : output.error().message();
    if (output.ok() && end.empty()) end = fmt::format("exit status {}", output->status);
    it->end.with_lock([&](auto& place) { place = std::move(end); });
    it->ended.notify();
    changed_();
  });
  return process;
}

Result<std::string> Proxy::write(const std::string& name, const Configuration& configuration, const Layout& layout) {
  for (const auto& [file, content] : configuration.keys) {
    const std::string path = fmt::format("{}/certificates/{}", options_.folder, file);
    if (!TRY(files_.info(path))) TRY(files_.write(path, content.reveal(), 0600));
  }
  const std::string folder = fmt::format("{}/{}", options_.folder, name);
  TRY(write_rendered(files_, folder, TRY(render(configuration, layout, options_))));
  return folder;
}

bool Proxy::is_running() const { return current_ && !current_->has_ended(); }

Proxy::Differences Proxy::differences_to(const Configuration& configuration, const Servers& servers) const {
  if (!is_running()) return {true, {}};
  SlotChange change = change_slots(layout_, servers);
  return {!change.is_all || configuration != configuration_, std::move(change.commands)};
}

Result<> Proxy::update_servers(const Servers& servers) {
  if (!is_running()) return error(Code::unavailable, "haproxy is not running");
  SlotChange change = change_slots(layout_, servers);
  std::string line;
  const auto send = [&]() -> Result<> {
    const std::string text = TRY(send_socket_command(current_->socket(), line, answer_limit));
    line.clear();
    return is_done(text) ? Result<>(Ok{}) : error(Code::unavailable, "haproxy said: {}", trim(text.substr(0, 200)));
  };
  for (const std::string& command : change.commands) {
    if (line.size() + command.size() > line_limit) TRY(send());
    line += (line.empty() ? "" : "; ") + command;
  }
  if (!line.empty()) TRY(send());
  layout_ = std::move(change.layout);
  return Ok{};
}

Result<> Proxy::replace(const sys::Context& context, const Configuration& configuration, const Servers& servers) {
  remove_leftovers();
  Layout layout = first_layout(servers);
  const std::string folder = TRY(write(std::to_string(next_++), configuration, layout));
  std::vector<std::string> more;
  if (is_running()) more = {"-x", current_->socket(), "-sf", std::to_string(current_->pid)};
  std::unique_ptr<Process> process = start(context, folder, std::move(more));
  const SteadyTime deadline = context.clock.steady() + start_limit;
  // haproxy answers once it listens on all addresses and has stopped the previous process.
  for (;;) {
    const std::uint64_t seen = process->ended.count();
    const Result<int> pid = pid_of(process->socket());
    if (pid.ok()) {
      process->pid = pid.value();
      break;
    }
    const std::optional<std::string> end = process->end.with_lock([](const auto& it) { return it; });
    const bool is_late = context.clock.steady() >= deadline;
    if (end || is_late) {
      process->stop.request_stop();
      process.reset();
      TRY(files_.remove(folder));
      if (end) return error(Code::invalid, "{}", *end);
      return error(Code::timeout, "haproxy did not start to serve within {}", human_duration(start_limit));
    }
    // A stop does not interrupt this wait: the previous process may have been stopped already.
    context.clock.wait(context.clock.steady() + start_poll, {}, &process->ended, seen);
  }
  if (current_) old_.push_back(std::move(current_));
  current_ = std::move(process);
  configuration_ = configuration;
  layout_ = std::move(layout);
  socket_.with_lock([&](std::string& socket) { socket = current_->socket(); });
  remove_leftovers();
  return Ok{};
}

Result<> Proxy::check(const sys::Context& context, const Configuration& configuration, const Servers& servers) {
  const std::string folder = TRY(write("check", configuration, first_layout(servers)));
  const Result<sys::Output> output = runner_.run(
      context, {.argv = {"haproxy", "-c", "-f", folder + "/haproxy.cfg"}, .environment = {"ROUTER_FOLDER=" + folder}});
  TRY(files_.remove(folder));
  if (!output.ok()) return output.error();
  if (output->status == 0) return Ok{};
  return error(Code::invalid, "{}", first_alert(output->err));
}

int Proxy::draining() {
  return static_cast<int>(std::ranges::count_if(old_, [](const auto& process) { return !process->has_ended(); }));
}

// Removes the folders of ended processes, and certificates that are no longer used.
void Proxy::remove_leftovers() {
  while (old_.size() > max_old) {
    old_.front()->stop.request_stop();
    old_.front()->thread.join();
    (void)files_.remove(old_.front()->folder);
    old_.pop_front();
  }
  std::erase_if(old_, [&](const std::unique_ptr<Process>& process) {
    if (!process->has_ended()) return false;
    (void)files_.remove(process->folder);
    return true;
  });
  const Result<std::vector<std::string>> names = files_.list(options_.folder + "/certificates");
  if (!names.ok()) return;
  // A process that serves has read all its files, so they can be removed.
  for (const std::string& name : names.value()) {
    if (!configuration_.keys.contains(name)) (void)files_.remove(fmt::format("{}/certificates/{}", options_.folder, name));
  }
}

Result<> Proxy::ask() const {
  const std::string socket = socket_.with_lock([](const std::string& it) { return it; });
  if (socket.empty()) return error(Code::unavailable, "haproxy is not running yet");
  TRY(send_socket_command(socket, "show version", answer_limit));
  return Ok{};
}

void Proxy::finish(const sys::Context& context, Milliseconds limit) {
  if (!is_running()) return;
  const SteadyTime begin = context.clock.steady(), deadline = begin + limit;
  // Without passthrough routes, haproxy reports that one of these frontends does not exist.
  const Result<std::string> told = send_socket_command(current_->socket(), accept_no_more, answer_limit);
  if (!told.ok()) ::kill(current_->pid, SIGUSR1);
  for (SteadyTime now = begin; told.ok() && !current_->has_ended() && now < deadline; now = context.clock.steady()) {
    if (now >= begin + idle_limit && is_done_serving(current_->socket())) {
      current_->stop.request_stop();
      break;
    }
    context.clock.wait(std::min(now + idle_poll, deadline), {}, &current_->ended, 0);
  }
  old_.push_back(std::move(current_));
  for (const auto& process : old_) {
    while (!process->has_ended() && context.clock.steady() < deadline) {
      context.clock.wait(deadline, {}, &process->ended, 0);
    }
  }
}

}  // namespace slipway::components::router
