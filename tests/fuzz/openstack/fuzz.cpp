// Answers of OpenStack's services, any bytes. The first byte selects: e an error, t an answer of Keystone to a login.
#include "base/check.h"
#include "base/text.h"
#include "provider/openstack/catalog.h"
#include "provider/openstack/failure.h"

#include <cstddef>
#include <cstdint>

namespace {

using namespace slipway;
using namespace slipway::provider::openstack;

void error_of(std::string_view text) {
  for (const int status : {400, 401, 403, 404, 409, 413, 429, 500, 503}) {
    const ServiceError failed = read_error(status, text);
    CHECK(is_utf8(failed.message));
    CHECK(!to_error(failed, "call").message().empty());
  }
}

void token_of(std::string_view text) {
  const Result<Json> answer = parse_json(text, "answer");
  if (!answer.ok()) return;
  for (const std::string region : {"", "one"}) {
    Login login;
    login.auth_url = "https://k/v3";
    login.region = region;
    const Result<Token> token = parse_token(answer.value(), Secret("t"), login);
    if (!token.ok()) continue;
    CHECK(!token->project_id.empty());
    for (const auto& [service, url] : token->endpoints) CHECK(without_project(url).size() <= url.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.empty()) return 0;
  switch (text[0]) {
    case 'e': error_of(text.substr(1)); break;
    case 't': token_of(text.substr(1)); break;
    default: break;
  }
  return 0;
}
