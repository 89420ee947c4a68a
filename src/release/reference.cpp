#include "release/reference.h"

#include "base/characters.h"
#include "base/number.h"
#include "base/text.h"

#include <algorithm>

namespace slipway::release {

namespace {

constexpr std::size_t longest_tag = 128;
constexpr std::size_t longest_name = 255;  // registry and repository together

bool is_port(std::string_view text) { return text.size() <= 5 && parse_number<std::uint16_t>(text).value_or(0) > 0; }

// "a-b.c", "a-b.c:5000", "[::1]:5000", in lower case.
bool is_registry(std::string_view text) {
  const std::size_t colon = text.starts_with('[') ? text.find(':', std::min(text.find(']'), text.size())) : text.find(':');
  const std::string_view host = text.substr(0, colon);
  if (colon != std::string_view::npos && !is_port(text.substr(colon + 1))) return false;
  if (host.starts_with('[')) {
    return host.size() > 2 && host.ends_with(']') &&
           host.substr(1, host.size() - 2).find_first_not_of("0123456789abcdef:") == std::string_view::npos;
  }
  return std::ranges::all_of(split(host, '.'), [](std::string_view label) {
    return !label.empty() && is_lower_or_digit(label.front()) && is_lower_or_digit(label.back()) &&
           std::ranges::all_of(label, [](char c) { return is_lower_or_digit(c) || c == '-'; });
  });
}

// Letters and digits with single separators between them: ".", "_", "__" or any number of "-".
bool is_component(std::string_view text) {
  if (text.empty() || !is_lower_or_digit(text.front()) || !is_lower_or_digit(text.back())) return false;
  for (std::size_t i = 0; i < text.size();) {
    if (is_lower_or_digit(text[i])) {
      ++i;
      continue;
    }
    const std::size_t end = text.find_first_not_of(text[i], i);
    const std::size_t length = end - i;
    if (text[i] == '.' ? length != 1 : text[i] == '_' ? length > 2 : text[i] != '-') return false;
    if (!is_lower_or_digit(text[end])) return false;
    i = end;
  }
  return true;
}

bool is_tag(std::string_view text) {
  auto is_word = [](char c) { return is_letter_or_digit(c) || c == '_'; };
  return !text.empty() && text.size() <= longest_tag && is_word(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return is_word(c) || c == '.' || c == '-'; });
}

Result<> read_name(std::string_view text, Reference& reference) {
  const std::size_t slash = text.find('/');
  reference.registry = to_lower(text.substr(0, slash));
  // Container tools use the same rule to distinguish a registry from a user name on their default registry.
  const bool named = reference.registry == "localhost" || reference.registry.find_first_of(".:") != std::string::npos;
  if (!named) return error(Code::invalid, "has no registry (use REGISTRY/REPOSITORY)");
  if (!is_registry(reference.registry)) return error(Code::invalid, "'{}' is not a registry", to_utf8(reference.registry));
  if (slash == std::string_view::npos || slash + 1 == text.size()) return error(Code::invalid, "has no repository");
  reference.repository = text.substr(slash + 1);
  if (std::ranges::any_of(reference.repository, is_upper)) {
    return error(Code::invalid, "repository '{}' has capital letters", to_utf8(reference.repository));
  }
  if (text.size() > longest_name || !std::ranges::all_of(split(reference.repository, '/'), is_component)) {
    return error(Code::invalid, "'{}' is not a repository", to_utf8(reference.repository));
  }
  return Ok{};
}

Result<Reference> parse(std::string_view text) {
  Reference reference;
  if (const std::size_t at = text.find('@'); at != std::string_view::npos) {
    reference.digest = TRY(Digest::parse(text.substr(at + 1)));
    text = text.substr(0, at);
  }
  const std::size_t slash = text.rfind('/');
  if (const std::size_t colon = text.rfind(':');
      colon != std::string_view::npos && slash != std::string_view::npos && colon > slash) {
    reference.tag = text.substr(colon + 1);
    if (!is_tag(reference.tag)) return error(Code::invalid, "'{}' is not a tag", to_utf8(reference.tag));
    text = text.substr(0, colon);
  }
  TRY(read_name(text, reference));
  return reference;
}

}  // namespace

std::string Reference::selector() const {
  if (digest) return digest->text();
  return tag.empty() ? "latest" : tag;
}

Reference Reference::with_digest(Digest of) const {
  Reference result = *this;
  result.digest = std::move(of);
  return result;
}

Result<Reference> parse_reference(std::string_view text) {
  return parse(text).context(fmt::format("image reference '{}'", to_utf8(text)));
}

Result<Reference> parse_repository(std::string_view text) {
  const std::string doing = fmt::format("repository '{}'", to_utf8(text));
  Reference reference = TRY(parse(text).context(doing));
  if (!reference.tag.empty() || reference.digest) {
    return error(Code::invalid, "{}: must not have a tag or a digest", doing);
  }
  return reference;
}

std::string to_string(const Reference& reference) {
  std::string text = reference.registry + "/" + reference.repository;
  if (!reference.tag.empty()) text += ":" + reference.tag;
  if (reference.digest) text += "@" + reference.digest->text();
  return text;
}

}  // namespace slipway::release
