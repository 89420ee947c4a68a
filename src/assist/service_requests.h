// What the programs that talk to the service share: the agent on hosts and the controller in the cluster.
#pragma once

#include "base/result.h"
#include "net/http.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::assist {

// All paths of the API are below it: "/api/assisted-install/v2/clusters".
inline constexpr std::string_view service_path = "/api/assisted-install";

// The error of an answer that is not 2xx, with the service's reason: denied (401, 403), not_found (404), conflict (409),
// unavailable (408, 429, 5xx), invalid (others). Pure.
Error refusal(const net::Answer& answer);

struct LogFile {
  std::string name;  // in the archive: "journal-bootkube.service.log"
  std::string content;

  bool operator==(const LogFile&) const = default;
};

// A tar archive, compressed with gzip. errors: those of files; internal
Result<std::string> pack(const std::vector<LogFile>& files);

// A multipart/form-data body with one file in the field `upfile`. The boundary does not occur in the content. Pure.
std::string multipart(std::string_view boundary, std::string_view file_name, std::string_view content);

}  // namespace slipway::assist
