// Result<T>: the only way in which slipway's functions report a failure.
//
//   Result<Port> parse_port(std::string_view text);
//
//   Result<Url> parse(std::string_view text) {
//     Port port = TRY(parse_port(tail));                           // the value; on an error this function returns the error
//     std::string body = TRY(files.read(path).context("reading the pull secret"));
//     if (host.empty()) return error(Code::invalid, "'{}' has no host", text);
//     return Url{host, port};
//   }
//
// The code is for programs, the message is for people: what was being done, what is wrong and, if known, what to do. Absence
// is not an error: a function whose object may not exist returns Result<std::optional<T>>. A broken invariant is not an error
// either: see check.h.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace slipway {

// What callers may branch on.
enum class Code {
  invalid,      // the input is wrong; the same call can never succeed
  too_large,    // the answer is larger than the caller's limit; a smaller request may succeed
  not_found,    // a required object does not exist
  conflict,     // changed or held by another process
  denied,       // credentials or permissions are missing
  unavailable,  // may succeed if retried: network, overload, not started yet
  timeout,      // a deadline passed
  cancelled,    // a stop was requested
  internal,     // none of the above: a bug, or an unexpected failure of a system call
};

// The name of a code in events and JSON: "not_found".
std::string_view to_string(Code code);

// A failure: a code and a message, which ends with the innermost cause ("reading a.yaml: permission denied").
class [[nodiscard]] Error {
 public:
  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // Prefixes the message with what the caller was doing.
  Error context(std::string_view doing) && {
    message_.insert(0, ": ").insert(0, doing);
    return std::move(*this);
  }

 private:
  Code code_;
  std::string message_;
};

// error(Code::invalid, "port {} is not between 1 and 65535", n)
template <class... Args>
Error error(Code code, fmt::format_string<Args...> text, Args&&... args) {
  return Error(code, fmt::format(text, std::forward<Args>(args)...));
}

// The value of a Result<> that succeeded.
struct Ok {};

template <class T = Ok>
class [[nodiscard]] Result {
 public:
  using Value = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Only if ok(); otherwise the behavior is undefined, and debug builds abort.
  T& value() & { return *std::get_if<0>(&state_); }
  const T& value() const& { return *std::get_if<0>(&state_); }
  T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }

  // Only if !ok().
  const Error& error() const& { return *std::get_if<1>(&state_); }
  Error&& error() && { return std::move(*std::get_if<1>(&state_)); }

  // The same result; an error is prefixed with what the caller was doing.
  Result context(std::string_view doing) && {
    if (ok()) return std::move(*this);
    return std::move(*this).error().context(doing);
  }

 private:
  std::variant<T, Error> state_;
};

// The value of an expression of type Result. On an error, the enclosing function returns that error. TRY may be nested. In a list
// of members or arguments, at most one value that needs a destructor is allowed together with a TRY: g++ 12 does not destroy
// the values that exist when the TRY returns (tools/check_try.py finds the common forms).
#define TRY(expression) SLIPWAY_TRY(expression, __COUNTER__)
#define SLIPWAY_TRY(expression, number) SLIPWAY_TRY_NUMBERED(expression, number)
#define SLIPWAY_TRY_NUMBERED(expression, number)                       \
  ({                                                                   \
    auto&& try_result_##number = (expression);                         \
    if (!try_result_##number.ok()) [[unlikely]]                        \
      return ::slipway::Error(std::move(try_result_##number).error()); \
    std::move(try_result_##number).value();                            \
  })

}  // namespace slipway
