// Messages between the processes of a local cluster, and files on disks, any bytes. The first byte selects: q a request to the
// owner, a an answer, c cluster.json, m machine.json, o a process, s a line of /proc/PID/stat, b a boot entry, g GRUB's
// environment block, l the link of a boot entry (its target after a zero byte), n a message to NOTIFY_SOCKET, p a network, f a
// forwarded port.
#include "../round_trip.h"
#include "base/check.h"
#include "provider/local/boot_counter.h"
#include "provider/local/cluster_config.h"
#include "provider/local/nspawn.h"
#include "provider/local/process_id.h"
#include "provider/local/protocol.h"

#include <algorithm>
#include <cstdint>

namespace {

using namespace slipway;
using namespace slipway::provider::local;

void deployment(std::string_view text) {
  const std::size_t end = std::min(text.find('\0'), text.size());
  const auto found = deployment_of_link(text.substr(0, end), text.substr(std::min(end + 1, text.size())));
  // The booted deployment is on the machine's disk, whatever the link on the disk says.
  if (found.ok()) CHECK(found->path.starts_with("/ostree/deploy/") && found->path.find("..") == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0]) {
    case 'q':
      round_trip(
          parse_request(text), [](const Request& each) { return to_line(each); }, parse_request);
      break;
    case 'a': {
      const auto answer = parse_answer(text);
      if (answer.ok()) CHECK(parse_answer(to_line(answer.value())).ok());
      break;
    }
    case 'c':
      round_trip(
          parse_cluster_config(text, "fuzz"), [](const ClusterConfig& each) { return to_text(each); },
          [](const std::string& written) { return parse_cluster_config(written, "again"); });
      break;
    case 'm':
      round_trip(
          parse_machine_record(text, "fuzz"), [](const MachineRecord& each) { return to_text(each); },
          [](const std::string& written) { return parse_machine_record(written, "again"); });
      break;
    case 'o':
      round_trip(
          parse_process_id(text, "fuzz"), [](const ProcessId& each) { return to_text(each); },
          [](const std::string& written) { return parse_process_id(written, "again"); });
      break;
    case 's': (void)start_of_stat(text).ok(); break;
    case 'b': {
      const auto entry = parse_boot_entry(text, "fuzz");
      if (entry.ok()) CHECK(entry->deployment.starts_with('/') && (entry->deployment + "/").find("/../") == std::string::npos);
      break;
    }
    case 'g': {
      const auto environment = parse_grub_environment(text);
      if (!environment.ok()) break;
      CHECK(serialise(environment.value()).ok());
      const BootDecision decision = decide_boot(environment.value());
      if (decision.save) CHECK(decide_boot(parse_grub_environment(serialise(*decision.save).value()).value()) != BootDecision{});
      break;
    }
    case 'l': deployment(text); break;
    case 'n': (void)parse_notification(text); break;
    case 'p': {
      const auto plan = parse_network(text);
      if (plan.ok()) CHECK(plan->most_machines() > 0 && !plan->address(plan->most_machines() - 1).empty());
      break;
    }
    case 'f':
      round_trip(
          parse_forward(text), [](const Forward& each) { return to_string(each); }, parse_forward);
      break;
    default: break;
  }
  return 0;
}
