#include "components/controller/process_metrics.h"

#include "base/number.h"
#include "base/text.h"

#include <sys/resource.h>
#include <unistd.h>
#include <set>

namespace slipway::components {

namespace {

constexpr std::string_view prefix = "@slipway/metrics/";
constexpr std::size_t longest_name = 100;  // of the 107 bytes of a socket's address
constexpr Milliseconds answer_limit{1'000};

double seconds_of(const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6; }

// What the kernel knows about this process.
void measure(sys::Files& files, Metrics& metrics) {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0)
    metrics.set(Metric::cpu_seconds, {}, seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
  const Result<std::string> pages = files.read("/proc/self/statm");
  if (!pages.ok()) return;
  const std::vector<std::string_view> fields = split(pages.value(), ' ');
  const std::optional<std::uint64_t> resident = fields.size() > 1 ? parse_number<std::uint64_t>(fields[1]) : std::nullopt;
  if (resident) metrics.set(Metric::memory_bytes, {}, static_cast<double>(*resident) * static_cast<double>(::getpagesize()));
}

}  // namespace

std::unique_ptr<SocketResponder> offer_metrics(const sys::Context& context, sys::Files& files, Metrics& metrics,
                                               const std::string& program, const std::string& identity,
                                               const std::string& version) {
  metrics.set(Metric::build_info, {{"version", version}}, 1);
  // The end of the identity is what differs.
  const std::size_t room = longest_name - prefix.size() - program.size() - 1;
  const std::string unique = identity.size() > room ? identity.substr(identity.size() - room) : identity;
  const auto answer = [&files, &metrics, program](std::string_view) {
    measure(files, metrics);
    return metrics.samples({{"program", program}});
  };
  Result<std::unique_ptr<SocketResponder>> socket =
      SocketResponder::listen(fmt::format("{}{}/{}", prefix, program, unique), answer);
  if (socket.ok()) return std::move(socket).value();
  context.log.warn("metrics are not offered: {}", socket.error().message());
  return nullptr;
}

std::vector<std::string> metrics_sockets(std::string_view proc_net_unix) {
  std::set<std::string> names;
  for (const std::string_view line : split(proc_net_unix, '\n')) {
    // The name is the last column. A connection has the name of its listener.
    const std::size_t begin = line.rfind(' ');
    if (begin == std::string_view::npos) continue;
    const std::string_view name = line.substr(begin + 1);
    if (name.starts_with(prefix)) names.emplace(name);
  }
  return {names.begin(), names.end()};
}

std::string collect_metrics(const sys::Context& context, sys::Files& files) {
  const Result<std::string> sockets = files.read("/proc/net/unix");
  if (!sockets.ok()) {
    context.log.warn("no metrics: {}", sockets.error().message());
    return "";
  }
  std::string samples;
  for (const std::string& name : metrics_sockets(sockets.value())) {
    const Result<std::string> answer = send_socket_command(name, "metrics", answer_limit);
    if (answer.ok()) {
      samples += answer.value();
    } else {
      context.log.info("metrics of {} are left out: {}", name, answer.error().message());
    }
  }
  return exposition(samples);
}

}  // namespace slipway::components
