#include "base/flags.h"
#include "base/number.h"
#include "base/yaml.h"
#include "components/machine_approver/approver.h"
#include "kube/kubeconfig.h"
#include "sys/wait_for.h"

namespace slipway::components::machine_approver {

namespace {

constexpr sys::Pace file_pace{Milliseconds(100), Milliseconds(500)};
// The wait may depend on an administrator.
constexpr Milliseconds no_limit = std::chrono::hours(24 * 365);

Result<> wait_for_file(const sys::Context& context, sys::Files& files, const std::string& file) {
  return sys::wait_for(
      context, "the end of the bootstrap", no_limit,
      [&]() -> Result<sys::Observation> {
        if (TRY(files.info(file))) return sys::Observation::done();
        return sys::Observation::not_yet("{} does not exist", file);
      },
      nullptr, file_pace);
}

// Whether the API server writes the credential-id of client certificates into requests: Kubernetes 1.32 and newer.
Result<bool> have_certificates_ids(const sys::Context& context, kube::Api& api) {
  bool have_ids = false;
  const auto read_version = [&]() -> Result<sys::Observation> {
    const Result<Json> version = api.send(context, {.path = "/version", .limit = Milliseconds(5'000)});
    if (!version.ok()) {
      if (version.error().code() == Code::cancelled) return version.error();
      return sys::Observation::not_yet("{}", version.error().message());
    }
    const std::string_view minor = find_string(version.value(), {"minor"}).value_or("");
    const auto number = parse_number<int>(minor.substr(0, minor.find_first_not_of("0123456789")));
    have_ids = number.value_or(0) >= 32;
    return sys::Observation::done();
  };
  TRY(sys::wait_for(context, "the API server", no_limit, read_version, nullptr, file_pace));
  return have_ids;
}

}  // namespace

Result<> run_approve_until_bootstrapped(const Environment& environment, const Arguments& arguments) {
  if (arguments.empty() || arguments[0].starts_with('-')) {
    return error(Code::invalid, "usage: approve-csr KUBECONFIG [--machines=FILE] [--until=FILE]");
  }
  const Flags flags = TRY(parse_flags("approve-csr",
                                      {{.name = "machines", .fallback = "/opt/openshift/manifests/machine-addresses.yaml"},
                                       {.name = "until", .fallback = "/opt/openshift/.bootkube.done"}},
                                      {arguments.begin() + 1, arguments.end()}));
  const std::string until = flags.text("until");
  ApproverInput input{.end = [&](const sys::Context& context) { return wait_for_file(context, environment.files, until); }};
  const std::string& table = flags.text("machines");
  if (const auto text = TRY(environment.files.read_if_exists(table))) {
    const YamlDocument document = TRY(parse_yaml(*text, table));
    input.machines = TRY(kube::parse_machine_table(document.value).context(table));
  } else {
    environment.context.log.warn("{}: not found; machines are admitted by their credential", table);
  }
  const kube::Access access = TRY(kube::read_kubeconfig(environment.files, arguments[0]));
  kube::Client api(environment.http, access);
  input.certificates_have_ids = TRY(have_certificates_ids(environment.context, api));
  return approve_requests(environment.context, api, input);
}

}  // namespace slipway::components::machine_approver
