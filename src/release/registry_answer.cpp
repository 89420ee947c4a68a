#include "release/registry_answer.h"

#include "base/json.h"
#include "base/number.h"
#include "base/text.h"

#include <algorithm>
#include <vector>

namespace slipway::release {

namespace {

constexpr Seconds max_retry_after{60};
constexpr std::size_t max_message_size = 300;  // of a registry's message in an error

}  // namespace

bool is_transient(const Result<net::Answer>& answer) {
  if (!answer.ok()) return answer.error().code() == Code::unavailable || answer.error().code() == Code::timeout;
  return answer->status == 429 || answer->status >= 500;
}

Milliseconds retry_after(const Result<net::Answer>& answer) {
  if (!answer.ok()) return Milliseconds(0);
  const long seconds = parse_number<long>(answer->header("Retry-After").value_or("")).value_or(0);
  return std::clamp(Seconds(seconds), Seconds(0), max_retry_after);
}

bool is_redirect(int status) { return status == 301 || status == 302 || status == 303 || status == 307 || status == 308; }

std::string message_of(const net::Answer& answer) {
  const Result<Json> document = parse_json(answer.body, "answer");
  if (!document.ok()) return "";
  std::vector<std::string> messages;
  for (const Json& entry : find_array(document.value(), {"errors"})) {
    messages.push_back(std::string(find_string(entry, {"message"}).value_or(find_string(entry, {"code"}).value_or(""))));
  }
  const std::string text = join(messages, "; ").substr(0, max_message_size);
  return text.empty() ? "" : ": " + to_utf8(text);
}

Error access_denied(const Reference& repository, const net::Answer& answer, const std::optional<Login>& login) {
  const std::string why = login ? fmt::format("user '{}' has no access", login->user) : "no login for this registry is known";
  return error(Code::denied, "registry {} denied access to repository {}{} ({})", repository.registry, repository.repository,
               message_of(answer), why);
}

Error unexpected_answer(const Reference& repository, const net::Answer& answer, const std::optional<Login>& login) {
  if (answer.status == 401 || answer.status == 403) return access_denied(repository, answer, login);
  if (answer.status == 404) {
    return error(Code::not_found, "registry {} has no repository {}{}", repository.registry, repository.repository,
                 message_of(answer));
  }
  return error(is_transient(answer) ? Code::unavailable : Code::invalid, "registry {} answered {}{}", repository.registry,
               answer.status, message_of(answer));
}

}  // namespace slipway::release
