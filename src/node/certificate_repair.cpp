#include "node/certificate_repair.h"

#include "base/flags.h"
#include "base/number.h"
#include "base/text.h"
#include "net/x509.h"
#include "sys/events.h"
#include "sys/wait_for.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace slipway::node {

namespace {

// These clients reload their certificate files only every five minutes (client-go), and the kube-controller-manager is the only
// signer of kubelet certificates.
constexpr std::array clients = {"kube-controller-manager", "kube-scheduler", "cluster-policy-controller"};
constexpr std::array operands = {"kube-apiserver", "kube-controller-manager", "kube-scheduler"};
// A cluster that starts needs this long to renew certificates by itself.
constexpr Seconds renewal_margin{600};
// Polls: machines have too few inotify instances to watch files.
constexpr sys::Pace pace{Milliseconds(100), Milliseconds(5'000)};

std::string resources(const CertificatePlaces& places) { return places.kubernetes + "/static-pod-resources"; }
std::string kubelet_certificate(const CertificatePlaces& places) { return places.kubelet + "/kubelet-client-current.pem"; }
std::string pod_of(const CertificatePlaces& places) { return places.kubernetes + "/manifests/certificate-recovery.yaml"; }

Result<std::vector<std::string>> names_in(sys::Files& files, const std::string& folder) {
  if (!TRY(files.info(folder))) return std::vector<std::string>{};
  return files.list(folder);
}

// The number after a prefix; 0 for other names.
int number_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return 0;
  name.remove_prefix(prefix.size());
  return take_number<int>(name).value_or(0);
}

// The pod of the newest revision that has one.
Result<std::string> recovery_pod(sys::Files& files, const CertificatePlaces& places) {
  constexpr std::string_view prefix = "kube-apiserver-pod-";
  std::vector<int> revisions;
  for (const std::string& name : TRY(names_in(files, resources(places)))) {
    if (const int number = number_after(name, prefix); number > 0) revisions.push_back(number);
  }
  std::ranges::sort(revisions, std::greater());
  for (const int revision : revisions) {
    const std::string path =
        fmt::format("{}/{}{}/configmaps/kube-apiserver-pod/recovery-pod.yaml", resources(places), prefix, revision);
    if (auto text = TRY(files.read_if_exists(path))) return std::move(*text);
  }
  return error(Code::not_found, "{}: no revision of the API server has a recovery-pod.yaml (restore the certificates manually)",
               resources(places));
}

class Repair {
 public:
  Repair(const Environment& environment, CertificatePlaces places) : environment_(environment), places_(std::move(places)) {}

  Result<> run() {
    const WallTime threshold = environment_.context.clock.now() + renewal_margin;
    std::map<std::string, WallTime> due = TRY(ends_of_certificates(environment_.files, places_));
    std::erase_if(due, [&](const auto& entry) { return entry.second > threshold; });
    if (due.empty()) return remove_pod();
    sys::Span span(environment_.context.events, environment_.context.clock, "certificate-repair", "control-plane");
    return span.end(repair(due));
  }

 private:
  Result<> repair(const std::map<std::string, WallTime>& due) {
    for (const auto& [path, end] : due)
      environment_.context.log.info("{} has expired or expires soon: {}", path, to_rfc3339(end));
    TRY(environment_.files.write(pod_of(places_), TRY(recovery_pod(environment_.files, places_)), 0600));
    std::map<std::string, WallTime> of_control_plane = due;
    of_control_plane.erase(kubelet_certificate(places_));
    TRY(wait_for_renewal(of_control_plane));
    if (!of_control_plane.empty()) TRY(restart_clients());
    TRY(wait_for_renewal(due));
    return remove_pod();
  }

  Result<> wait_for_renewal(const std::map<std::string, WallTime>& due) {
    const auto observe = [&]() -> Result<sys::Observation> {
      std::vector<std::string> pending;
      const std::map<std::string, WallTime> now = TRY(ends_of_certificates(environment_.files, places_));
      for (const auto& [path, end] : due) {
        const auto found = now.find(path);
        if (found != now.end() && found->second <= end) pending.push_back(path);
      }
      if (pending.empty()) return sys::Observation::done();
      return sys::Observation::not_yet("not renewed yet: {}", join(pending, ", "));
    };
    return sys::wait_for(environment_.context, "expired certificates to be renewed", no_limit, observe, nullptr, pace);
  }

  // Kills the clients; the kubelet restarts them.
  Result<> restart_clients() {
    for (const char* client : clients) {
      const std::string filter = fmt::format("labels.\"io.kubernetes.container.name\"=={}", client);
      const std::string listed = TRY(ctr({"containers", "list", "--quiet", filter}));
      for (std::string_view id : split(listed, '\n')) {
        if (id.empty()) continue;
        const Result<std::string> killed = ctr({"tasks", "kill", "--signal", "SIGTERM", std::string(id)});
        // The container has already ended.
        if (!killed.ok()) environment_.context.log.info("{}; continuing", killed.error().message());
      }
    }
    return Ok{};
  }

  Result<std::string> ctr(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"ctr", "--namespace", "k8s.io"});
    return sys::run_checked(environment_.runner, environment_.context, {.argv = std::move(arguments)});
  }

  Result<> remove_pod() { return environment_.files.remove(pod_of(places_)); }

  const Environment& environment_;
  const CertificatePlaces places_;
};

}  // namespace

Result<std::map<std::string, WallTime>> ends_of_certificates(sys::Files& files, const CertificatePlaces& places) {
  std::map<std::string, WallTime> ends;
  const auto add = [&](const std::string& path) -> Result<> {
    const auto pem = TRY(files.read_if_exists(path));
    const auto info = pem ? net::parse_certificate(*pem) : Result<net::CertificateInfo>(error(Code::not_found, "no file"));
    if (info.ok()) ends.emplace(path, info->not_after);
    return Ok{};
  };
  for (const char* operand : operands) {
    const std::string secrets = fmt::format("{}/{}-certs/secrets", resources(places), operand);
    for (const std::string& name : TRY(names_in(files, secrets))) TRY(add(fmt::format("{}/{}/tls.crt", secrets, name)));
  }
  // On machines without a control plane, the kubelet's certificate is renewed by kubelet-certificate alone.
  if (!ends.empty()) TRY(add(kubelet_certificate(places)));
  return ends;
}

Result<> run_repair_certificates(const Environment& environment, const Arguments& arguments) {
  const CertificatePlaces usual;
  const Flags flags = TRY(parse_flags(
      "repair-certificates",
      {{.name = "kubernetes", .fallback = usual.kubernetes}, {.name = "cert-dir", .fallback = usual.kubelet}}, arguments));
  return Repair(environment, {flags.text("kubernetes"), flags.text("cert-dir")}).run();
}

}  // namespace slipway::node
