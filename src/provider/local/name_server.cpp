#include "provider/local/name_server.h"

#include <fmt/core.h>

namespace slipway::provider::local {

std::vector<std::string> name_server_command(std::string_view address, std::string_view domain, std::string_view hosts,
                                             const std::vector<NameRecord>& records, const std::string& upstream) {
  std::vector<std::string> command = {"dnsmasq",
                                      "--conf-file=/dev/null",  // not the host's
                                      "--keep-in-foreground",
                                      "--log-facility=-",
                                      "--user=root",
                                      "--pid-file=",
                                      "--bind-interfaces",
                                      fmt::format("--listen-address={}", address),
                                      "--no-resolv",
                                      "--no-hosts",
                                      "--local-ttl=1",
                                      fmt::format("--local=/{}/", domain),
                                      fmt::format("--hostsdir={}", hosts)};
  if (!upstream.empty()) command.push_back("--server=" + upstream);
  for (const NameRecord& record : records) {
    if (record.name.starts_with("*.")) {
      command.push_back(fmt::format("--address=/{}/{}", record.name.substr(2), record.address));
    } else {
      command.push_back(fmt::format("--host-record={},{}", record.name, record.address));
    }
  }
  return command;
}

std::string hosts_entry(std::string_view address, std::string_view machine, std::string_view domain) {
  return fmt::format("{} {}.{} {}\n", address, machine, domain, machine);
}

}  // namespace slipway::provider::local
