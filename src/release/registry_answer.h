// Answers of registries: whether a retry can help, and errors for unexpected answers.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "net/http.h"
#include "release/credentials.h"
#include "release/reference.h"

#include <optional>
#include <string>

namespace slipway::release {

// Whether a request failed in a way that can pass: no connection, 429, 5xx.
bool is_transient(const Result<net::Answer>& answer);

// The pause that the server requests with Retry-After, at most a minute. Zero if it requests none or sends a date.
Milliseconds retry_after(const Result<net::Answer>& answer);

bool is_redirect(int status);

// The messages of a registry's error document, ": authentication required"; empty if there is none:
//
//   {"errors": [{"code": "UNAUTHORIZED", "message": "authentication required"}]}
std::string message_of(const net::Answer& answer);

// The error for an answer with status 401 or 403. login: the one that was used, if any
Error access_denied(const Reference& repository, const net::Answer& answer, const std::optional<Login>& login);

// The error for any other answer that does not have the expected status.
Error unexpected_answer(const Reference& repository, const net::Answer& answer, const std::optional<Login>& login);

}  // namespace slipway::release
