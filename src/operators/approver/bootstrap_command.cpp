#include "base/flags.h"
#include "kube/kubeconfig.h"
#include "operators/approver/approver.h"
#include "sys/wait_for.h"

namespace slipway::operators {

namespace {

constexpr sys::Pace file_pace{Milliseconds(100), Milliseconds(500)};
// What it waits for may take a person to bring.
constexpr Milliseconds no_limit = std::chrono::hours(24 * 365);

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
    input.machines = TRY(parse_machine_table(*text, table));
  } else {
    environment.context.log.warn("there is no {}; names and addresses of machines are not checked", table);
  }
  const kube::Access access = TRY(kube::read_kubeconfig(environment.files, arguments[0]));
  kube::Client api(environment.http, access);
  return approve_requests(environment.context, api, input);
}

}  // namespace slipway::operators
