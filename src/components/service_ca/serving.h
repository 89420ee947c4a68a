// Which Services need a certificate, and the Secrets with the certificates. Pure except for new keys.
#pragma once

#include "components/controller/certificate_rotation.h"
#include "components/service_ca/authority.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::components::service_ca {

// Attempts to create a Secret before the operator waits for a change of the Service. The number is in an annotation of it.
inline constexpr int max_attempts = 10;

// What the operator keeps of objects that it watches (View); null: nothing. Of a Secret of this operator a member `served`
// describes the certificate instead of the data; of other Secrets it keeps the name only.
Json reduce_service(const Json& service);
Json reduce_secret(const Json& secret);

// The Secret that a Service asks for by annotation; empty: none.
std::string secret_name(const Json& service);
// "Secret shop/web-tls": problems begin with it.
std::string secret_text(const Json& service);

struct Verdict {
  enum class Step {
    keep,    // the Secret is as it should be
    issue,   // create or replace it
    refuse,  // it belongs to something else
    wait,    // it is being deleted
  };
  Step step;
  std::string why{};  // of issue and refuse, for people
  WallTime until{};   // of keep: when the certificate is replaced
};
Verdict judge(const Json& service, const Snapshot& seen, const Authority& authority, const Lifetime& lifetime, WallTime now);

// The lifetime of certificates, which an administrator may shorten (lifetimes_of).
Lifetime serving_lifetime(const Lifetimes& lifetimes);

// The Secret for a Service with a new certificate. Metadata of an existing Secret that this operator does not manage stays.
//
//   known   the existing Secret, reduced; null: none
//   errors  internal
Result<Json> make_serving_secret(const Json& service, const Json* known, const Authority& authority, const Lifetime& lifetime,
                                 WallTime now);

// Annotations in which a Service says who signed its certificate, or why it has none. Null removes one.
JsonObject success_annotations(const Authority& authority);
JsonObject failure_annotations(const std::string& problem, int attempts);

// Attempts that the Service reports for the Secret that it names now; 0: no failure.
int reported_attempts(const Json& service);

// The problem that the Service reports for that Secret; empty: none.
std::string reported_problem(const Json& service);

}  // namespace slipway::components::service_ca
