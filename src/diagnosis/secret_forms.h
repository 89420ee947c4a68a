// Finds secrets by their form, for values that are not known: private keys in PEM, credentials in URLs, JSON web tokens, bearer
// and basic authorization, hashes of passwords, fields that hold credentials, and the content of data URLs.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace slipway::diagnosis {

// Bytes of a text that are secret, from `begin` to before `end`.
struct Span {
  std::size_t begin;
  std::size_t end;
};
using Spans = std::vector<Span>;

// Each adds what it finds to `found`. Spans may overlap. The text is searched as it is; encodings are the caller's task. Pure.
void find_private_keys(std::string_view text, Spans& found);
void find_secret_forms(std::string_view text, Spans& found);  // all forms, private keys included

}  // namespace slipway::diagnosis
