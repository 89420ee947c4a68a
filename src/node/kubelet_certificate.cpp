#include "node/kubelet_certificate.h"

#include "base/digest.h"
#include "base/flags.h"
#include "base/text.h"
#include "base/yaml.h"
#include "ignition/data_url.h"
#include "kube/conditions.h"
#include "kube/kubeconfig.h"
#include "net/x509.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <optional>

namespace slipway::node {

namespace {

constexpr std::string_view user_prefix = "system:node:";
constexpr std::string_view group = "system:nodes";
constexpr sys::Pace fast{Milliseconds(100), Milliseconds(200)};
constexpr Milliseconds longest_refusal{15'000};  // of the credential, before a new one is fetched
constexpr Milliseconds answer_limit{5'000};      // short: a server that is starting is asked again

struct Paths {
  explicit Paths(const std::string& folder)
      : key(folder + "/kubelet-client.key.tmp"),
        current(folder + "/kubelet-client-current.pem"),
        updated(folder + "/kubelet-client-updated.pem") {}

  std::string key;
  std::string current;  // a link to the newest certificate
  std::string updated;  // renamed to `current`
};

// The file name that the kubelet's certificate manager uses.
std::string dated_file(const std::string& folder, WallTime now) {
  std::string date = to_rfc3339(std::chrono::floor<Seconds>(now));
  date.pop_back();  // Z
  std::ranges::replace(date, 'T', '-');
  std::ranges::replace(date, ':', '-');
  return fmt::format("{}/kubelet-client-{}.pem", folder, date);
}

class CertificateRenewal {
 public:
  CertificateRenewal(const Environment& environment, kube::Api& api, const kube::Access& bootstrap,
                     const KubeletIdentity& identity, const std::function<Result<>()>& renew)
      : environment_(environment),
        api_(api),
        bootstrap_(bootstrap),
        identity_(identity),
        renew_(renew),
        paths_(identity.cert_dir) {}

  Result<> run() {
    const bool is_started = TRY(environment_.files.info(paths_.key)).has_value();
    const bool has_certificate = TRY(find_certificate());
    if (has_certificate && !is_started && TRY(environment_.files.info(identity_.kubeconfig))) return Ok{};
    sys::Span span(environment_.context.events, environment_.context.clock, "kubelet-certificate", identity_.node_name);
    return span.end(has_certificate ? put_in_use() : get());
  }

 private:
  const sys::Context& context() const { return environment_.context; }

  Result<bool> find_certificate() {
    const auto pem = TRY(environment_.files.read_if_exists(paths_.current));
    return pem && is_valid_certificate(*pem, identity_.node_name, context().clock.now());
  }

  Result<> get() {
    const Secret key = TRY(own_key());
    const std::string public_key = TRY(net::public_key(key));
    const std::string name = "node-csr-" + sha256_hex(public_key + TRY(end_of_last_certificate())).substr(0, 40);
    TRY(ask(name, key));
    const std::string certificate = TRY(wait_for_certificate(name));
    if (!TRY(net::key_fits(certificate, key))) {
      return error(Code::conflict, "certificate request {} was signed for another key", name);
    }
    TRY(store(certificate, key));
    return put_in_use();
  }

  // The current certificate of this node, also if it has expired: its key identifies this machine.
  Result<std::optional<std::string>> last_certificate() {
    auto pem = TRY(environment_.files.read_if_exists(paths_.current));
    if (!pem || !is_certificate_of(*pem, identity_.node_name)) pem.reset();
    return pem;
  }

  // The end of the last certificate. It makes each request unique although the key is the same.
  Result<std::string> end_of_last_certificate() {
    const auto pem = TRY(last_certificate());
    return pem ? to_rfc3339(TRY(net::parse_certificate(*pem)).not_after) : std::string();
  }

  Result<Secret> own_key() {
    const auto before = TRY(environment_.files.read_if_exists(paths_.key));
    if (before && net::public_key(Secret(*before)).ok()) return Secret(*before);
    const auto last = TRY(last_certificate());
    const Secret key = last ? TRY(net::private_key(Secret(*last))) : TRY(net::make_key());
    TRY(environment_.files.write(paths_.key, key.reveal(), 0600));
    return key;
  }

  void tell(std::string_view state) {
    context().events.emit({.kind = "kubelet-certificate",
                           .name = identity_.node_name,
                           .phase = sys::Phase::progress,
                           .fields = {{"state", state}}});
  }

  // The role bindings of these credentials are created some time after the API starts. A review that comes too early costs one
  // request.
  Result<sys::Observation> has_permission() {
    static const Json question = {
        {"apiVersion", "authorization.k8s.io/v1"},
        {"kind", "SelfSubjectAccessReview"},
        {"spec",
         {{"resourceAttributes",
           {{"group", "certificates.k8s.io"}, {"resource", "certificatesigningrequests"}, {"verb", "create"}}}}}};
    const Result<Json> answer = api_.send(context(), {.method = "POST",
                                                      .path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                                                      .body = question,
                                                      .limit = answer_limit});
    if (!answer.ok()) {
      if (answer.error().code() == Code::cancelled) return answer.error();
      if (answer.error().code() == Code::denied) return on_refusal(answer.error());
      refused_since_.reset();
      return not_yet(answer.error().message());
    }
    refused_since_.reset();
    const Json* allowed = find(answer.value(), {"status", "allowed"});
    if (allowed && *allowed == Json(true)) return sys::Observation::done();
    return not_yet("this credential may not create certificate requests yet");
  }

  // For some seconds after its start, an API server rejects every credential. Later a rejection means that the credential has
  // expired or was revoked.
  Result<sys::Observation> on_refusal(const Error& why) {
    const SteadyTime now = context().clock.steady();
    if (!refused_since_) refused_since_ = now;
    if (!renew_ || now - *refused_since_ < longest_refusal) return not_yet(why.message());
    refused_since_ = now;
    const Result<> renewed = renew_();
    if (!renewed.ok()) {
      if (renewed.error().code() == Code::cancelled) return renewed.error();
      return not_yet(fmt::format("{}; no other credential: {}", why.message(), renewed.error().message()));
    }
    context().log.info("the join credential was refused; got another one from the machine-config-server");
    return not_yet("a new credential");
  }

  // Logs each reason once: the wait may be long, and no other program reports the reason.
  sys::Observation not_yet(const std::string& reason) {
    if (reason != last_reason_) context().log.info("waiting until this machine may request a certificate: {}", reason);
    last_reason_ = reason;
    return sys::Observation::not_yet("{}", reason);
  }

  Result<> ask(const std::string& name, const Secret& key) {
    TRY(sys::wait_for(
        context(), "permission to request a certificate", no_limit, [&] { return has_permission(); }, nullptr, fast));
    tell("allowed");
    const net::SubjectName subject = {.common_name = fmt::format("{}{}", user_prefix, identity_.node_name),
                                      .organizations = {std::string(group)}};
    const std::string request = TRY(net::make_request(key, subject, {}, {}));
    const Json object = {{"apiVersion", "certificates.k8s.io/v1"},
                         {"kind", "CertificateSigningRequest"},
                         {"metadata", {{"name", name}}},
                         {"spec",
                          {{"request", base64_encode(request)},
                           {"signerName", "kubernetes.io/kube-apiserver-client-kubelet"},
                           {"usages", {"digital signature", "client auth"}}}}};
    const auto observe = [&]() -> Result<sys::Observation> {
      const Result<Json> created = kube::create(context(), api_, kube::types::certificate_requests, object);
      // The request exists: an earlier run created it.
      if (created.ok() || created.error().code() == Code::conflict) return sys::Observation::done();
      return created.error();
    };
    TRY(sys::wait_for(context(), fmt::format("certificate request {} to be created", name), Seconds(60), observe, nullptr, fast));
    tell("requested");
    return Ok{};
  }

  Result<std::string> wait_for_certificate(const std::string& name) {
    std::string pem;
    const auto missing = [&](const kube::Objects& found) -> Result<std::optional<std::string>> {
      if (found.empty()) return error(Code::not_found, "certificate request {} was removed", name);
      for (const Json& condition : find_array(found[0], {"status", "conditions"})) {
        const std::string_view type = find_string(condition, {"type"}).value_or("");
        if (type != "Denied" && type != "Failed") continue;
        return error(Code::denied, "certificate request {}: {}: {}: {}", name, type,
                     find_string(condition, {"reason"}).value_or(""), find_string(condition, {"message"}).value_or(""));
      }
      const std::string_view certificate = find_string(found[0], {"status", "certificate"}).value_or("");
      if (certificate.empty()) {
        const bool is_approved = kube::condition_status(found[0], "Approved") == "True";
        return std::optional<std::string>(is_approved ? "approved, but not signed yet" : "not approved yet");
      }
      pem = TRY(base64_decode(certificate).context(name));
      return std::optional<std::string>();
    };
    TRY(kube::wait_until(context(), api_, fmt::format("certificate request {}", name), no_limit,
                         kube::types::certificate_requests, "", {.fields = "metadata.name=" + name}, missing));
    tell("signed");
    return pem;
  }

  Result<> store(const std::string& certificate, const Secret& key) {
    const std::string file = dated_file(identity_.cert_dir, context().clock.now());
    TRY(environment_.files.write(file, certificate + key.reveal(), 0600));
    TRY(sys::run_checked(environment_.runner, context(), {.argv = {"ln", "-sfn", file, paths_.updated}}));
    return environment_.files.rename(paths_.updated, paths_.current);
  }

  Result<> put_in_use() {
    TRY(environment_.files.write(identity_.kubeconfig, emit_yaml(kubelet_kubeconfig(bootstrap_, paths_.current)), 0600));
    TRY(sys::run_checked(environment_.runner, context(), {.argv = {"systemctl", "--no-block", "restart", "kubelet.service"}}));
    return environment_.files.remove(paths_.key);
  }

  const Environment& environment_;
  kube::Api& api_;
  const kube::Access& bootstrap_;
  const KubeletIdentity& identity_;
  const std::function<Result<>()>& renew_;
  std::optional<SteadyTime> refused_since_;
  Paths paths_;
  std::string last_reason_;
};

// The API with a credential that can be replaced. Threads: one, without open streams.
class JoinApi final : public kube::Api {
 public:
  JoinApi(net::Http& http, kube::Access access) : http_(http) { use(std::move(access)); }

  void use(kube::Access access) {
    access_ = std::move(access);
    client_.emplace(http_, access_);
  }
  const kube::Access& access() const { return access_; }

  Result<Json> send(const sys::Context& context, const kube::ApiRequest& request) override {
    return client_->send(context, request);
  }
  Result<> stream(const sys::Context& context, const std::string& path,
                  const std::function<Result<>(kube::WatchEvent)>& on_event) override {
    return client_->stream(context, path, on_event);
  }

 private:
  net::Http& http_;
  kube::Access access_;
  std::optional<kube::Client> client_;
};

}  // namespace

Json kubelet_kubeconfig(const kube::Access& bootstrap, const std::string& certificate_file) {
  JsonObject cluster = {{"certificate-authority-data", base64_encode(bootstrap.ca)}, {"server", bootstrap.server}};
  if (!bootstrap.tls_server_name.empty()) cluster["tls-server-name"] = bootstrap.tls_server_name;
  const Json user = {{"client-certificate", certificate_file}, {"client-key", certificate_file}};
  return {{"apiVersion", "v1"},
          {"kind", "Config"},
          {"clusters", JsonArray{JsonObject{{"name", "default-cluster"}, {"cluster", cluster}}}},
          {"users", JsonArray{JsonObject{{"name", "default-auth"}, {"user", user}}}},
          {"contexts", JsonArray{JsonObject{{"name", "default-context"},
                                            {"context", JsonObject{{"cluster", "default-cluster"}, {"user", "default-auth"}}}}}},
          {"current-context", "default-context"}};
}

bool is_certificate_of(const std::string& pem, const std::string& node_name) {
  const auto info = net::parse_certificate(pem);
  if (!info.ok() || info->subject.common_name != fmt::format("{}{}", user_prefix, node_name)) return false;
  const auto fits = net::key_fits(pem, Secret(pem));
  return fits.ok() && fits.value();
}

bool is_valid_certificate(const std::string& pem, const std::string& node_name, WallTime now) {
  if (!is_certificate_of(pem, node_name)) return false;
  const auto info = net::parse_certificate(pem);
  return now >= info->not_before && now < info->not_after;
}

Result<> get_kubelet_certificate(const Environment& environment, kube::Api& api, const kube::Access& bootstrap,
                                 const KubeletIdentity& identity, const std::function<Result<>()>& renew) {
  return CertificateRenewal(environment, api, bootstrap, identity, renew).run();
}

Result<Secret> fetch_join_kubeconfig(const sys::Context& context, net::Http& http,
                                     const machineconfig::ConfigServerAccess& server) {
  const net::Url url = TRY(net::parse_url(server.url));
  net::Request request{.url = url,
                       .headers = {{"Accept", "application/vnd.coreos.ignition+json;version=3.2.0"}},
                       .authorization = Secret("Bearer " + server.token.reveal()),
                       .tls = {.ca_pem = server.ca},
                       .whole_limit = Seconds(30)};
  const net::Answer answer = TRY(http.send(request, context.stop));
  if (answer.status != 200) {
    const Code code = answer.status == 403 ? Code::denied : answer.status >= 500 ? Code::unavailable : Code::invalid;
    return error(code, "{}: status {}: {}", server.url, answer.status, trim(answer.body));
  }
  const Json config = TRY(parse_json(answer.body, server.url));
  for (const Json& file : find_array(config, {"storage", "files"})) {
    if (find_string(file, {"path"}) != "/etc/kubernetes/kubeconfig") continue;
    const std::string source(TRY(require_string(file, {"contents", "source"}).context(server.url)));
    return Secret(TRY(ignition::decode_data_url(source).context(server.url)));
  }
  return error(Code::invalid, "{}: the config has no /etc/kubernetes/kubeconfig", server.url);
}

Result<> run_kubelet_certificate(const Environment& environment, const Arguments& arguments) {
  const Flags flags = TRY(parse_flags("kubelet-certificate",
                                      {{.name = "bootstrap-kubeconfig", .required = true},
                                       {.name = "kubeconfig", .required = true},
                                       {.name = "cert-dir", .required = true},
                                       {.name = "config-server", .fallback = std::string(machineconfig::config_server_file)},
                                       {.name = "node-name", .required = true}},
                                      arguments));
  const KubeletIdentity identity = {
      .node_name = flags.text("node-name"), .kubeconfig = flags.text("kubeconfig"), .cert_dir = flags.text("cert-dir")};
  const std::string& bootstrap_file = flags.text("bootstrap-kubeconfig");
  JoinApi api(environment.http, TRY(kube::read_kubeconfig(environment.files, bootstrap_file)));
  const auto text = TRY(environment.files.read_if_exists(flags.text("config-server")));
  if (!text) return get_kubelet_certificate(environment, api, api.access(), identity);
  const machineconfig::ConfigServerAccess server =
      TRY(machineconfig::parse_config_server_access(*text, flags.text("config-server")));
  const auto renew = [&]() -> Result<> {
    const Secret kubeconfig = TRY(fetch_join_kubeconfig(environment.context, environment.http, server));
    const auto no_files = [](const std::string& path) -> Result<std::string> {
      return error(Code::invalid, "{} is not part of the config", path);
    };
    kube::Access access = TRY(kube::parse_kubeconfig(kubeconfig.reveal(), server.url, no_files));
    TRY(environment.files.write(bootstrap_file, kubeconfig.reveal(), 0600));
    api.use(std::move(access));
    return Ok{};
  };
  return get_kubelet_certificate(environment, api, api.access(), identity, renew);
}

}  // namespace slipway::node
