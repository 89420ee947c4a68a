// Result<T>: the only way in which a function of slipway reports that it could not do its work.
//
//   Result<Port> parse_port(std::string_view text);
//
//   Result<Url> parse(std::string_view text) {
//     Port port = TRY(parse_port(tail));                           // the value, or return the error from here
//     std::string body = TRY(files.read(path).context("reading the pull secret"));
//     if (host.empty()) return error(Code::invalid, "'{}' has no host", text);
//     return Url{host, port};
//   }
//
// Code is for programs, message is for people: it says what was being done, what is wrong and, where we know it, what to
// do. Absence is not an error: a thing that may well not exist is a Result<std::optional<T>>. A broken invariant of our
// own is neither: see check.h.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace slipway {

// What a caller may need to branch on.
enum class Code {
  invalid,      // the input is wrong; the same call can never succeed
  too_large,    // the answer is larger than the caller takes; a smaller question may succeed
  not_found,    // a thing that has to exist does not
  conflict,     // somebody else changed or holds it
  denied,       // credentials or permissions are missing
  unavailable,  // may work when tried again: network, overload, not started yet
  timeout,      // a deadline passed
  cancelled,    // a stop was asked for
  internal,     // none of the above: a bug, or a system call that has no business failing
};

// The name of a code as it appears in events and JSON: "not_found".
std::string_view to_string(Code code);

// A failure: a code and a sentence, the innermost cause last ("reading a.yaml: permission denied").
class [[nodiscard]] Error {
 public:
  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // Prepends what the caller was doing.
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

// The value of a Result<> that carries nothing but success.
struct Ok {};

template <class T = Ok>
class [[nodiscard]] Result {
 public:
  using Value = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Only when ok(); otherwise the program ends (std::get_if yields null and the access is caught in debug builds).
  T& value() & { return *std::get_if<0>(&state_); }
  const T& value() const& { return *std::get_if<0>(&state_); }
  T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }

  // Only when !ok().
  const Error& error() const& { return *std::get_if<1>(&state_); }
  Error&& error() && { return std::move(*std::get_if<1>(&state_)); }

  // The same result; an error says first what was being done.
  Result context(std::string_view doing) && {
    if (ok()) return std::move(*this);
    return std::move(*this).error().context(doing);
  }

 private:
  std::variant<T, Error> state_;
};

// The value of an expression of type Result, or a return of its error from the enclosing function. May stand inside
// another TRY: each has a variable of its own. In a list of members or arguments only as the one thing that needs a
// destructor: g++ 12 forgets to destroy what was already made when the return leaves in the middle
// (tools/check_try.py finds the common forms).
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
