#include "provider/local/sweep.h"

#include "provider/local/cgroups.h"
#include "provider/local/cluster_config.h"
#include "provider/local/process_id.h"

#include "sys/wait_for.h"

#include <poll.h>
#include <csignal>

namespace slipway::provider::local {

namespace {

Result<> end_owner(const sys::Context& context, sys::Files& files, const ClusterPaths& paths) {
  const auto text = TRY(files.read_if_exists(paths.owner()));
  if (!text) return Ok{};
  const ProcessId owner = TRY(parse_process_id(*text, paths.owner()));
  const std::optional<sys::Fd> process = TRY(open_process(files, owner));
  if (process) {
    TRY(signal_process(*process, SIGKILL));
    // The handle becomes readable when the process and all processes of its namespace have ended.
    TRY(sys::wait_for(context, "the cluster's owner to end", Seconds(10),
                      [&]() -> Result<sys::Observation> {
                        pollfd watched{process->get(), POLLIN, 0};
                        return ::poll(&watched, 1, 500) > 0 ? sys::Observation::done()
                                                            : sys::Observation::not_yet("process {} still runs", owner.pid);
                      },
                      nullptr, {Milliseconds(0), Milliseconds(0)}));
  }
  return files.remove(paths.owner());
}

}  // namespace

Result<> sweep_cluster(const sys::Context& context, sys::Files& files, const ClusterPaths& paths) {
  TRY(end_owner(context, files, paths));
  const auto text = TRY(files.read_if_exists(paths.config()));
  if (!text) return Ok{};  // without a config, no process was started
  const ClusterConfig config = TRY(parse_cluster_config(*text, paths.config()));
  TRY(end_cgroups(context, hierarchies(TRY(files.read("/proc/self/mounts"))), config.id));
  return files.remove(paths.folder + "/" + paths.control_name());
}

}  // namespace slipway::provider::local
