#include "provider/openstack/failure.h"

#include "base/json.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::openstack {

namespace {

constexpr std::size_t longest_message = 500;

// Types of Neutron's errors (neutron_lib/exceptions).
struct Row {
  std::string_view type;  // the whole type, or its end after a '*'
  Failure failure;
};
constexpr std::array rows = {
    Row{"OverQuota", Failure::quota},
    Row{"SecurityGroupRuleExists", Failure::exists},
    Row{"IpAddressAlreadyAllocated", Failure::invalid},
    Row{"IpAddressInUse", Failure::invalid},
    Row{"IpAddressGenerationFailure", Failure::invalid},
    Row{"FloatingIPPortAlreadyAssociated", Failure::in_use},
    Row{"*InUse", Failure::in_use},
    Row{"*InUseByRouter", Failure::in_use},
    Row{"*InUseByFloatingIP", Failure::in_use},
    Row{"*InUseByRBACObject", Failure::in_use},
    Row{"RetryRequest", Failure::throttled},
};

bool fits(std::string_view type, std::string_view pattern) {
  return pattern.starts_with('*') ? type.ends_with(pattern.substr(1)) : type == pattern;
}

// The text of HTML, in one line.
std::string without_tags(std::string_view html) {
  std::string text;
  bool is_tag = false;
  for (const char c : html) {
    if (c == '<') is_tag = true;
    const bool is_blank = is_tag || c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (c == '>' && is_tag) is_tag = false;
    if (!is_blank) {
      text += c;
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  return std::string(trim(text));
}

constexpr int status_bad = 400;
constexpr int status_expired = 401;
constexpr int status_denied = 403;
constexpr int status_missing = 404;
constexpr int status_conflict = 409;
constexpr int status_gone = 410;
constexpr int status_over_limit = 413;
constexpr int status_too_many = 429;
constexpr int status_unavailable = 503;

bool names_quota(const ServiceError& error) {
  const std::string text = to_lower(error.message);
  return text.find("quota") != std::string::npos || text.find("exceeds allowed") != std::string::npos;
}

}  // namespace

ServiceError read_error(int status, std::string_view body) {
  ServiceError failed{.status = status};
  const Result<Json> parsed = parse_json(body, "answer");
  if (!parsed.ok()) {
    failed.message = to_utf8(without_tags(body));
  } else {
    // {"itemNotFound": {"message": ..., "code": 404}}, {"NeutronError": {"type": ..., "message": ...}}, {"message": ...}
    const Json* found = &parsed.value();
    if (found->is_object()) {
      for (const auto& member : found->get_object()) {
        if (!member.value().is_object()) continue;
        found = &member.value();
        break;
      }
    }
    failed.type = text_of(*found, {"type"});
    failed.message = text_of(*found, {"message"});
    if (failed.message.empty() && parsed->is_object()) failed.message = text_of(parsed.value(), {"NeutronError"});
  }
  if (failed.message.size() > longest_message) failed.message = to_utf8(failed.message.substr(0, longest_message)) + "...";
  return failed;
}

Failure classify(const ServiceError& error) {
  const auto row = std::ranges::find_if(rows, [&](const Row& each) { return fits(error.type, each.type); });
  if (row != rows.end()) return row->failure;
  switch (error.status) {
    case status_expired: return Failure::expired;
    case status_denied: return names_quota(error) ? Failure::quota : Failure::denied;
    case status_missing:
    case status_gone: return Failure::not_found;
    case status_conflict: return names_quota(error) ? Failure::quota : Failure::in_use;
    case status_over_limit: return names_quota(error) ? Failure::quota : Failure::throttled;
    case status_too_many:
    case status_unavailable: return Failure::throttled;
    case status_bad: return Failure::invalid;
    default: return error.status >= 500 ? Failure::unanswered : Failure::invalid;
  }
}

Error to_error(const ServiceError& failed, std::string_view call) {
  std::string reason = failed.message.empty() ? fmt::format("status {}", failed.status) : failed.message;
  std::string id = failed.type;
  if (!failed.request_id.empty()) id += fmt::format("{}request {}", id.empty() ? "" : ", ", failed.request_id);
  if (!id.empty()) reason += fmt::format(" [{}]", id);
  const auto made = [&](Code code, std::string_view hint = "") {
    return Error(code, fmt::format("{}: {}{}", call, reason, hint.empty() ? "" : fmt::format(" ({})", hint)));
  };
  switch (classify(failed)) {
    case Failure::throttled: return made(Code::unavailable, "run the command again later");
    case Failure::unanswered: return made(Code::unavailable, "run the command again");
    case Failure::expired: return made(Code::denied, "the token has ended or is not valid: renew the credentials");
    case Failure::denied: return made(Code::denied, "the user needs a role in the project that permits this, usually member");
    case Failure::quota: return made(Code::invalid, "raise the quota of the project, or remove what is not needed");
    case Failure::not_found: return made(Code::not_found);
    case Failure::exists:
    case Failure::in_use: return made(Code::conflict);
    case Failure::invalid: break;
  }
  return made(Code::invalid);
}

}  // namespace slipway::provider::openstack
