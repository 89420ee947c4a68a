#include "assist/service_requests.h"

#include "base/json.h"
#include "base/text.h"
#include "ignition/gzip.h"
#include "release/tar.h"
#include "sys/files.h"
#include "sys/temp_dir.h"

#include <fmt/core.h>

namespace slipway::assist {

namespace {

constexpr std::size_t longest_reason = 500;

Code code_of(int status) {
  if (status == 401 || status == 403) return Code::denied;
  if (status == 404) return Code::not_found;
  if (status == 409) return Code::conflict;
  if (status == 408 || status == 429 || status >= 500) return Code::unavailable;
  return Code::invalid;
}

}  // namespace

Error refusal(const net::Answer& answer) {
  std::string reason;
  if (const Result<Json> body = parse_json(answer.body, "answer"); body.ok()) {
    reason = text_of(body.value(), {"reason"});
    if (reason.empty()) reason = text_of(body.value(), {"message"});
  }
  if (reason.empty()) reason = to_utf8(trim(answer.body));
  return error(code_of(answer.status), "the service answers {}: {}", answer.status, reason.substr(0, longest_reason));
}

Result<std::string> pack(const std::vector<LogFile>& files) {
  const sys::TempDir folder = TRY(sys::TempDir::make("logs"));
  const std::string path = folder.path() + "/logs.tar";
  release::TarWriter tar = TRY(release::TarWriter::create(path));
  for (const LogFile& file : files) {
    TRY(tar.begin(file.name, file.content.size()));
    TRY(tar.write(file.content));
  }
  TRY(tar.finish());
  sys::RealFiles real;
  return ignition::gzip(TRY(real.read(path)));
}

std::string multipart(std::string_view boundary, std::string_view file_name, std::string_view content) {
  return fmt::format(
      "--{0}\r\nContent-Disposition: form-data; name=\"upfile\"; filename=\"{1}\"\r\n"
      "Content-Type: application/octet-stream\r\n\r\n{2}\r\n--{0}--\r\n",
      boundary, file_name, content);
}

}  // namespace slipway::assist
