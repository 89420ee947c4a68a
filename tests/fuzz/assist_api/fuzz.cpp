// Requests to the REST API of assisted installations, any bytes: "METHOD PATH[?QUERY]", a line feed, the body. {c}, {i} and {h}
// become the IDs of a cluster, its discovery environment and a host that has sent its hardware. Whatever is sent, the service has
// no error of its own, shows no pull secret, tells hosts what to do, and can read again what it has stored.
#include "base/check.h"
#include "base/text.h"
#include "service/api.h"
#include "sys/temp_dir.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace {

using namespace slipway;

constexpr std::string_view prefix = "/api/assisted-install/v2", secret = "dXNlcjpzZWNyZXQtb2YtdGhpcw==";
constexpr int requests_of_a_service = 500;  // what they leave would slow the later ones down

class NoHttp final : public net::Http {
 public:
  Result<net::Answer> send(const net::Request&, std::stop_token, const net::Sink&) override {
    return error(Code::unavailable, "no network");
  }
};

class NoInstallation final : public service::Installation {
 public:
  Result<service::InstallationFiles> make(const service::InstallationRequest&, std::stop_token) override {
    return error(Code::invalid, "nothing is installed here");
  }
};

class Service {
 public:
  Service() {
    const std::string pull_secret = fmt::format(R"({{\"auths\":{{\"r\":{{\"auth\":\"{}\"}}}}}})", secret);
    cluster_ = id_of(send("POST", "/clusters", fmt::format(R"({{"name":"demo","openshift_version":"4.20","pull_secret":"{}",
                                       "base_dns_domain":"example.com","api_vips":[{{"ip":"192.168.126.100"}}],
                                       "ingress_vips":[{{"ip":"192.168.126.101"}}]}})",
                                                           pull_secret)));
    infra_env_ = id_of(send(
        "POST", "/infra-envs", fmt::format(R"({{"name":"demo","pull_secret":"{}","cluster_id":"{}"}})", pull_secret, cluster_)));
    host_ = id_of(send("POST", "/infra-envs/{i}/hosts", R"({"host_id":"5f0c6b1e-9a1d-4c3e-8f3a-0b5f5f7c1a22"})"));
    send("POST", "/infra-envs/{i}/hosts/{h}/instructions",
         R"({"step_type":"inventory","exit_code":0,"output":"{\"hostname\":\"host-0\",\"cpu\":{\"count\":4},\"memory\":)"
         R"({\"physical_bytes\":17179869184},\"interfaces\":[{\"name\":\"eth0\",\"mac_address\":\"52:54:00:00:00:01\",)"
         R"(\"ipv4_addresses\":[\"192.168.126.10/24\"]}],\"disks\":[{\"id\":\"/dev/vda\",\"path\":\"/dev/vda\",)"
         R"(\"drive_type\":\"SSD\",\"size_bytes\":120000000000}]}"})");
    CHECK(is_there());
  }

  // The answer of the API to a request whose path and body may have placeholders.
  net::ServerAnswer send(std::string_view method, std::string_view target, std::string_view body) {
    const std::string whole = filled(target);
    const std::size_t mark = std::min(whole.find('?'), whole.size());
    net::ServerRequest request{.method = std::string(method),
                               .path = std::string(prefix) + whole.substr(0, mark),
                               .query = whole.substr(std::min(mark + 1, whole.size())),
                               .headers = {{"Content-Type", "multipart/form-data; boundary=x"}},
                               .body = filled(body),
                               .peer = "127.0.0.1"};
    net::ServerAnswer answer = api_.answer(request);
    if (answer.stream) answer.stream->end();
    return answer;
  }

  void check_records() {
    core_->look([](const service::World& world) {
      const auto again = [](const auto& table, const auto& parse) {
        for (const auto& [key, record] : table) {
          const Result<Json> stored = parse_json(emit_json(service::to_json(*record), JsonStyle::compact), key);
          CHECK(stored.ok() && parse(stored.value()).ok());
        }
      };
      again(world.clusters, service::parse_cluster);
      again(world.infra_envs, service::parse_infra_env);
      again(world.hosts, service::parse_host);
      again(world.tokens, service::parse_token);
    });
    const auto hosts = core_->look([](const service::World& world) { return world.hosts; });
    for (const auto& [key, record] : hosts) {
      const auto steps = api_.steps_of(key);
      if (steps) CHECK(parse_json(service::instructions_text(*steps), "instructions").ok());
    }
  }

  bool is_there() {
    for (const char* path : {"/clusters/{c}", "/infra-envs/{i}", "/infra-envs/{i}/hosts/{h}"}) {
      if (send("GET", path, "").status != 200) return false;
    }
    return true;
  }

  int requests = 0;
  bool knows_secret = false;  // from a request, and may show it

 private:
  static std::string id_of(const net::ServerAnswer& answer) {
    CHECK(answer.status == 201);
    return text_of(parse_json(*answer.body, "answer").value(), {"id"});
  }

  std::string filled(std::string_view text) const {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
      const std::string_view rest = text.substr(at, 3);
      const std::string* id = rest == "{c}" ? &cluster_ : rest == "{i}" ? &infra_env_ : rest == "{h}" ? &host_ : nullptr;
      result += id ? *id : std::string(1, text[at]);
      at += id ? 3 : 1;
    }
    return result;
  }

  sys::RealClock clock_;
  Log log_{Level::error, [](Level, std::string_view) {}};
  sys::Events events_{clock_, "fuzz"};
  const sys::Context context_{clock_, log_, events_};
  sys::RealFiles files_;
  sys::RealRunner runner_;
  sys::RealRandom random_;
  NoHttp http_;
  const net::Environment environment_{context_, files_, runner_, random_, http_, {}};
  sys::TempDir folder_ = sys::TempDir::make("fuzz-assist-api").value();
  NoInstallation installation_;
  service::Feed feed_{context_};
  std::unique_ptr<service::Core> core_ =
      service::Core::start(context_, service::Store::open(folder_.path() + "/assist.db").value(), installation_, {}, {}).value();
  service::Api api_{environment_,
                    *core_,
                    feed_,
                    {.authenticates = false,
                     .url = "https://192.168.126.1:8090",
                     .openshift_version = "4.20",
                     .logs = folder_.path() + "/logs"}};
  std::string cluster_, infra_env_, host_;
};

// Files that hosts boot and are installed with contain the pull secret.
bool may_have_secrets(std::string_view target) { return target.find("/downloads/") != std::string_view::npos; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::unique_ptr<Service> service;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(text.find('\n'), text.size()), blank = std::min(text.find(' '), line);
  if (blank == line) return 0;
  const std::string_view method = text.substr(0, blank), target = text.substr(blank + 1, line - blank - 1);
  const std::string_view body = text.substr(std::min(line + 1, text.size()));
  if (!target.starts_with('/')) return 0;
  if (!service || ++service->requests > requests_of_a_service || !service->is_there()) {
    service.reset();
    service = std::make_unique<Service>();
  }
  service->knows_secret = service->knows_secret || text.find(secret) != std::string_view::npos;
  const net::ServerAnswer answer = service->send(method, target, body);
  CHECK(answer.status >= 200 && answer.status < 500);
  if (answer.body && answer.status >= 400) CHECK(parse_json(*answer.body, "answer").ok());
  if (answer.body && !service->knows_secret && !may_have_secrets(target))
    CHECK(answer.body->find(secret) == std::string::npos);
  service->check_records();
  return 0;
}
