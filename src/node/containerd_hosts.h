// containerd's hosts.toml: the servers that it asks for the images of a registry.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::node {

struct ContainerdHost {
  std::string server{};                 // "mirror.example.com:5000"; empty: the registry itself
  bool is_plain = false;                // http; of a server with a name
  std::string path = "/v2";             // of the API, before the repository
  std::vector<std::string> ca_files{};  // in addition to the system's authorities
  bool skips_verification = false;      // of a server's certificate
  bool can_pull = true;                 // serves blobs and references by digest
  bool can_resolve = true;              // serves references by tag

  bool operator==(const ContainerdHost&) const = default;
};

// The servers in the order in which containerd asks them: the [host] tables in the order of the file, then `server`, or the
// registry itself if there is no `server`. Keys that do not change where images are read from (client, header, dial_timeout, ...)
// are ignored. Pure.
//
//   path    of the file, for messages; relative names of CA files are relative to its folder
//   text    names of servers and files must be ASCII
//   errors  invalid: with the file, and the line if the parser knows it: not TOML, a key of a wrong type, a server that is not a
//           URL of http or https
//
// https://github.com/containerd/containerd/blob/release/1.7/docs/hosts.md
Result<std::vector<ContainerdHost>> parse_containerd_hosts(std::string_view text, const std::string& path);

}  // namespace slipway::node
