#include "diagnosis/redact.h"

#include "base/characters.h"
#include "base/digest.h"
#include "base/text.h"
#include "ignition/gzip.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace slipway::diagnosis {

namespace {

constexpr std::string_view mark = "***";
constexpr std::string_view gzip_magic = "\x1f\x8b\x08";
constexpr std::size_t shortest_run = 16;       // of base64 that is decoded
constexpr std::size_t shortest_token = 16;     // behind "Bearer"
constexpr std::size_t longest_key = 64 << 10;  // of a private key without an end
constexpr std::size_t shortest_key_line = 16;  // of a known private key that is looked for by itself

struct Span {
  std::size_t begin;
  std::size_t end;
};
using Spans = std::vector<Span>;

bool is_base64(char c) { return is_letter_or_digit(c) || c == '+' || c == '/' || c == '-' || c == '_'; }

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

int hex_byte(std::string_view text, std::size_t at) {
  if (at + 2 > text.size()) return -1;
  const int high = hex_digit(text[at]), low = hex_digit(text[at + 1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

// Either alphabet, from any place of a run on; what is left over at its end is dropped.
std::string decode_base64(std::string_view run) {
  std::string bytes;
  bytes.reserve(run.size() * 3 / 4);
  std::uint32_t group = 0;
  int count = 0;
  for (const char c : run) {
    std::uint32_t value = 0;
    if (c >= 'A' && c <= 'Z') {
      value = static_cast<std::uint32_t>(c - 'A');
    } else if (c >= 'a' && c <= 'z') {
      value = static_cast<std::uint32_t>(c - 'a' + 26);
    } else if (c >= '0' && c <= '9') {
      value = static_cast<std::uint32_t>(c - '0' + 52);
    } else {
      value = c == '+' || c == '-' ? 62 : 63;
    }
    group = group << 6 | value;
    if (++count == 4) {
      bytes += {static_cast<char>(group >> 16), static_cast<char>(group >> 8), static_cast<char>(group)};
      group = 0;
      count = 0;
    }
  }
  if (count == 3) bytes += {static_cast<char>(group >> 10), static_cast<char>(group >> 2)};
  if (count == 2) bytes += static_cast<char>(group >> 4);
  return bytes;
}

// A text without a layer of escapes, and where each of its bytes was: origin[i] to origin[i + 1].
struct View {
  std::string text;
  std::vector<std::uint32_t> origin;
};

// What an escape at this place stands for, and how many bytes it is long; nothing where there is none.
struct Escape {
  char byte;
  std::size_t length;
};

// URLs and data URLs; systemd doubles the sign.
std::optional<Escape> percent_escape(std::string_view text, std::size_t at) {
  if (text[at] != '%') return std::nullopt;
  if (at + 1 < text.size() && text[at + 1] == '%') return Escape{'%', 2};
  const int byte = hex_byte(text, at + 1);
  return byte < 0 ? std::nullopt : std::optional(Escape{static_cast<char>(byte), 3});
}

// JSON, YAML in double quotes, Go, the shell, systemd ("\x2d"). Of \uXXXX those below U+0100; others are in no secret of ours.
std::optional<Escape> backslash_escape(std::string_view text, std::size_t at) {
  if (text[at] != '\\' || at + 1 == text.size()) return std::nullopt;
  const char kind = text[at + 1];
  if (kind == 'n') return Escape{'\n', 2};
  if (kind == 't') return Escape{'\t', 2};
  if (kind == 'r') return Escape{'\r', 2};
  if (kind == 'x') {
    const int byte = hex_byte(text, at + 2);
    return byte < 0 ? std::nullopt : std::optional(Escape{static_cast<char>(byte), 4});
  }
  if (kind == 'u') {
    const int byte = hex_byte(text, at + 4);
    return hex_byte(text, at + 2) != 0 || byte < 0 ? std::nullopt : std::optional(Escape{static_cast<char>(byte), 6});
  }
  return is_letter_or_digit(kind) ? std::nullopt : std::optional(Escape{kind, 2});
}

template <class Decode>
std::optional<View> unescape(std::string_view text, char sign, Decode decode) {
  if (text.find(sign) == std::string_view::npos) return std::nullopt;
  View view;
  view.text.reserve(text.size());
  view.origin.reserve(text.size() + 1);
  bool has_escape = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::optional<Escape> escape = decode(text, at);
    has_escape = has_escape || escape;
    view.origin.push_back(static_cast<std::uint32_t>(at));
    view.text += escape ? escape->byte : text[at];
    at += escape ? escape->length : 1;
  }
  view.origin.push_back(static_cast<std::uint32_t>(text.size()));
  return has_escape ? std::optional(std::move(view)) : std::nullopt;
}

// Many texts looked for at once.
class Needles {
 public:
  void add(std::string_view text, bool is_encoded) {
    if (text.size() < prefix) return;
    const std::uint32_t key = key_of(text.data());
    present_.set(slot(key));
    by_key_.emplace(key, Needle{std::string(text), is_encoded});
  }

  void find(std::string_view text, Spans& found) const {
    if (by_key_.empty() || text.size() < prefix) return;
    for (std::size_t at = 0; at + prefix <= text.size(); ++at) {
      const std::uint32_t key = key_of(text.data() + at);
      if (!present_.test(slot(key))) continue;
      const auto [first, last] = by_key_.equal_range(key);
      for (auto each = first; each != last; ++each) {
        const Needle& needle = each->second;
        if (!text.substr(at).starts_with(needle.text)) continue;
        Span span{at, at + needle.text.size()};
        // The rest of the encoded text tells of the secret, too.
        while (needle.is_encoded && span.begin > 0 && is_base64(text[span.begin - 1])) --span.begin;
        while (needle.is_encoded && span.end < text.size() && (is_base64(text[span.end]) || text[span.end] == '=')) ++span.end;
        found.push_back(span);
      }
    }
  }

 private:
  struct Needle {
    std::string text;
    bool is_encoded;
  };
  static constexpr std::size_t prefix = 4;
  static constexpr std::size_t slots = 1 << 16;

  static std::uint32_t key_of(const char* text) {
    const auto byte = [text](int i) { return std::uint32_t{static_cast<unsigned char>(text[i])} << (8 * i); };
    return byte(0) | byte(1) | byte(2) | byte(3);
  }
  static std::size_t slot(std::uint32_t key) { return (key * 2654435761u) >> 16; }

  std::bitset<slots> present_;
  std::unordered_multimap<std::uint32_t, Needle> by_key_;
};

// The part of a text's base64 that depends on nothing but the text, with so many bytes before it.
std::string base64_core(std::string_view text, std::size_t before) {
  const std::string encoded = base64_encode(std::string(before, '\0') + std::string(text));
  const std::size_t begin = (8 * before + 5) / 6, end = 8 * (before + text.size()) / 6;
  return encoded.substr(begin, end - begin);
}

std::size_t end_of(std::string_view text, std::size_t begin, std::string_view enders) {
  return std::min(text.find_first_of(enders, begin), text.size());
}

void find_private_keys(std::string_view text, Spans& found) {
  constexpr std::string_view name = "PRIVATE KEY-----", opening = "-----BEGIN ", closing = "-----END ";
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at)) {
    const std::size_t begin = text.rfind(opening, at);
    if (begin == std::string_view::npos || at - begin > 40) {
      at += name.size();
      continue;
    }
    std::size_t end = text.find(closing, at);
    if (end == std::string_view::npos || end - at > longest_key) {
      end = std::min(text.size(), at + longest_key);
    } else {
      const std::size_t dashes = text.find("-----", end + closing.size());
      end = dashes == std::string_view::npos ? text.size() : dashes + 5;
    }
    found.push_back({begin, end});
    at = end;
  }
}

// "scheme://user:password@host"
void find_logins_of_urls(std::string_view text, Spans& found) {
  constexpr std::string_view slashes = "://";
  for (std::size_t at = text.find(slashes); at != std::string_view::npos; at = text.find(slashes, at)) {
    at += slashes.size();
    const std::string_view authority = text.substr(at, end_of(text, at, "/?# \t\r\n\"'<>`\\") - at);
    const std::size_t end = authority.rfind('@');
    if (end != std::string_view::npos && authority.substr(0, end).find(':') != std::string_view::npos)
      found.push_back({at, at + end});
  }
}

bool is_token(char c) { return is_base64(c) || c == '.' || c == '~' || c == '='; }

void find_web_tokens(std::string_view text, Spans& found) {
  constexpr std::string_view begin_of_object = "eyJ";
  const auto word = [&](std::size_t at) {
    while (at < text.size() && is_base64(text[at])) ++at;
    return at;
  };
  for (std::size_t at = text.find(begin_of_object); at != std::string_view::npos; at = text.find(begin_of_object, at + 1)) {
    const std::size_t header = word(at);
    if (header >= text.size() || text[header] != '.' || !text.substr(header + 1).starts_with(begin_of_object)) continue;
    const std::size_t body = word(header + 1);
    if (body >= text.size() || text[body] != '.') continue;
    const std::size_t end = word(body + 1);
    found.push_back({at, end});
    at = end - 1;
  }
}

void find_authorizations(std::string_view text, Spans& found) {
  for (const std::string_view scheme : {"Bearer ", "bearer ", "Basic ", "basic "}) {
    for (std::size_t at = text.find(scheme); at != std::string_view::npos; at = text.find(scheme, at)) {
      at += scheme.size();
      std::size_t end = at;
      while (end < text.size() && is_token(text[end])) ++end;
      if (end - at >= shortest_token) found.push_back({at, end});
    }
  }
}

void find_hashes_of_passwords(std::string_view text, Spans& found) {
  for (const std::string_view begin : {"$2a$", "$2b$", "$2y$", "$5$", "$6$", "$y$"}) {
    for (std::size_t at = text.find(begin); at != std::string_view::npos; at = text.find(begin, at)) {
      const std::size_t end = end_of(text, at, " \t\r\n\"'\\,;:<>");
      if (end - at >= 30) found.push_back({at, end});
      at = std::max(end, at + begin.size());
    }
  }
}

// Fields of pull secrets, kubeconfigs and Ignition configs, in JSON and YAML.
struct Field {
  std::string_view name;
  bool is_word = false;  // also in sentences of logs ("auth: expired"), so it counts only between quotes
};
constexpr auto secret_fields = std::to_array<Field>(
    {{"auth", true}, {"password"}, {"passwordHash"}, {"identitytoken"}, {"registrytoken"}, {"client-key-data"}});

void find_fields(std::string_view text, Spans& found) {
  for (const auto& [field, is_word] : secret_fields) {
    for (std::size_t at = text.find(field); at != std::string_view::npos; at = text.find(field, at + 1)) {
      const bool is_quoted = at > 0 && text[at - 1] == '"';
      if (at > 0 && !is_quoted && !is_blank(text[at - 1]) && text[at - 1] != '\n' && text[at - 1] != '{') continue;
      std::size_t begin = at + field.size();
      if (is_word && !is_quoted) continue;
      if (is_quoted && (begin == text.size() || text[begin++] != '"')) continue;
      while (begin < text.size() && is_blank(text[begin])) ++begin;
      if (begin >= text.size() || text[begin] != ':') continue;
      ++begin;
      while (begin < text.size() && is_blank(text[begin])) ++begin;
      if (begin == text.size()) continue;
      const char quote = text[begin];
      if (quote == '"' || quote == '\'') {
        const std::size_t end = end_of(text, ++begin, std::string_view(&quote, 1));
        if (end > begin) found.push_back({begin, end});
      } else if (!is_quoted) {
        const std::size_t end = end_of(text, begin, " \t\r\n,}");
        if (end > begin) found.push_back({begin, end});
      }
    }
  }
}

void find_data_urls(std::string_view text, Spans& found) {
  constexpr std::string_view scheme = "data:";
  for (std::size_t at = text.find(scheme); at != std::string_view::npos; at = text.find(scheme, at)) {
    const bool is_scheme = at == 0 || !is_letter_or_digit(text[at - 1]);
    at += scheme.size();
    std::size_t comma = at;
    while (comma < text.size() && (is_base64(text[comma]) || text[comma] == ';' || text[comma] == '=' || text[comma] == '.'))
      ++comma;
    if (!is_scheme || comma == text.size() || text[comma] != ',') continue;
    const std::size_t end = end_of(text, comma + 1, " \t\r\n\"'\\<>");
    if (end > comma + 1) found.push_back({comma + 1, end});
    at = end;
  }
}

// Whether bytes that came out of base64 may be what somebody wrote: nothing is searched for in noise.
bool is_text(std::string_view bytes) {
  return std::ranges::all_of(bytes.substr(0, 64),
                             [](char c) { return c == '\n' || c == '\t' || c == '\r' || (c >= ' ' && c < 127); });
}

void merge(Spans& spans) {
  std::ranges::sort(spans, {}, &Span::begin);
  Spans merged;
  for (const Span& span : spans) {
    if (!merged.empty() && span.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, span.end);
    } else {
      merged.push_back(span);
    }
  }
  spans = std::move(merged);
}

std::string replaced(std::string_view text, Spans spans) {
  merge(spans);
  std::string made;
  std::size_t at = 0;
  for (const Span& span : spans) {
    made.append(text.substr(at, span.begin - at)).append(mark);
    at = span.end;
  }
  return made.append(text.substr(at));
}

}  // namespace

class Redactor::Search {
 public:
  explicit Search(const std::vector<Secret>& known) {
    for (const Secret& secret : known) {
      const std::string& value = secret.reveal();
      if (value.find("-----BEGIN ") == std::string::npos) {
        learn(trim(value));
        continue;
      }
      // Logs and other files break a key's lines apart.
      for (const std::string_view line : split(value, '\n')) {
        if (line.size() >= shortest_key_line && !line.starts_with("-----")) learn(trim(line));
      }
    }
  }

  // left: bytes that may still be unpacked from gzip inside of the text
  Spans find(std::string_view text, int depth, std::size_t& left) const {
    Spans found;
    find_plain(text, found);
    for (std::size_t at = 0; at < text.size();) at = find_in_segment(text, at, depth, left, found);
    return found;
  }

 private:
  void learn(std::string_view value) {
    if (value.size() < shortest_value) return;
    needles_.add(value, false);
    for (const std::size_t before : {0, 1, 2}) {
      const std::string core = base64_core(value, before);
      std::string of_urls = core;
      std::ranges::replace(of_urls, '+', '-');
      std::ranges::replace(of_urls, '/', '_');
      if (of_urls != core) needles_.add(of_urls, true);
      needles_.add(core, true);
    }
  }

  void find_plain(std::string_view text, Spans& found) const {
    needles_.find(text, found);
    find_private_keys(text, found);
    find_logins_of_urls(text, found);
    find_web_tokens(text, found);
    find_authorizations(text, found);
    find_hashes_of_passwords(text, found);
    find_fields(text, found);
    find_data_urls(text, found);
  }

  // A segment is a line, or lines of base64 that belong together. Returns where the next one begins.
  std::size_t find_in_segment(std::string_view text, std::size_t begin, int depth, std::size_t& left, Spans& found) const {
    const std::size_t end = end_of(text, begin, "\n");
    const std::string_view line = text.substr(begin, end - begin);
    if (is_wrapped(line)) {
      std::string joined(trim(line));
      std::size_t last = end;
      std::size_t after = end;  // the data
      while (last < text.size()) {
        const std::size_t next = end_of(text, last + 1, "\n");
        const std::string_view more = text.substr(last + 1, next - last - 1);
        if (!is_wrapped(more)) {
          // The last piece may be short, and have other words behind it. Padded data has a length that four divides.
          const std::size_t first = std::min(more.find_first_not_of(" \t\r"), more.size());
          std::size_t stop = first;
          while (stop < more.size() && (is_base64(more[stop]) || more[stop] == '=')) ++stop;
          if (stop > first && (stop - first) % 4 == 0) {
            joined += more.substr(first, stop - first);
            after = last + 1 + stop;
          }
          break;
        }
        joined += trim(more);
        last = after = next;
      }
      if (depth == 0 || !has_secret_in_base64(joined, depth - 1, left)) return last + 1;
      found.push_back({begin, after});
      return after;
    }
    find_in_line(line, begin, depth, left, found);
    return end + 1;
  }

  static bool is_all_base64(std::string_view text) {
    const std::size_t end = text.find_last_not_of('=') + 1;
    return std::ranges::all_of(text.substr(0, end), is_base64);
  }

  static bool is_wrapped(std::string_view line) {
    const std::string_view text = trim(line);
    return text.size() >= shortest_run && is_all_base64(text);
  }

  void find_in_line(std::string_view line, std::size_t offset, int depth, std::size_t& left, Spans& found) const {
    if (depth == 0) return;
    for (std::size_t at = 0; at < line.size();) {
      std::size_t end = at;
      while (end < line.size() && is_base64(line[end])) ++end;
      const std::size_t begin = at;
      const std::string_view run = line.substr(begin, end - begin);
      while (end < line.size() && line[end] == '=') ++end;
      if (run.size() >= shortest_run && has_secret_in_base64(run, depth - 1, left))
        found.push_back({offset + begin, offset + end});
      at = std::max(end, begin + 1);
    }
    const auto find_in_view = [&](const std::optional<View>& view) {
      if (!view) return;
      for (const Span& span : find(view->text, depth - 1, left))
        found.push_back({offset + view->origin[span.begin], offset + view->origin[span.end]});
    };
    find_in_view(unescape(line, '%', percent_escape));
    find_in_view(unescape(line, '\\', backslash_escape));
  }

  // Nobody knows where the encoding begins: a word or a path may be before it.
  bool has_secret_in_base64(std::string_view run, int depth, std::size_t& left) const {
    run = run.substr(0, run.find_last_not_of('=') + 1);
    for (std::size_t skipped = 0; skipped < 4 && skipped < run.size(); ++skipped) {
      if (has_secret(decode_base64(run.substr(skipped)), depth, left)) return true;
    }
    // base64 of gzip, wherever it begins.
    constexpr std::string_view begin_of_gzip = "H4sI";
    for (std::size_t at = run.find(begin_of_gzip); at != std::string_view::npos; at = run.find(begin_of_gzip, at + 1)) {
      if (has_secret(decode_base64(run.substr(at)), depth, left)) return true;
    }
    return false;
  }

  // What cannot be looked into counts as secret.
  bool has_secret(std::string_view bytes, int depth, std::size_t& left) const {
    if (bytes.starts_with(gzip_magic)) {
      const Result<std::string> inner = ignition::gunzip(bytes, left);
      if (!inner.ok() || depth == 0) return true;
      left -= inner->size();
      return has_secret(inner.value(), depth - 1, left);
    }
    if (is_text(bytes)) return !find(bytes, depth, left).empty();
    Spans found;
    needles_.find(bytes, found);
    find_private_keys(bytes, found);
    return !found.empty();
  }

  Needles needles_;
};

Redactor::Redactor(const std::vector<Secret>& known) : search_(std::make_unique<const Search>(known)) {}
Redactor::Redactor(Redactor&&) noexcept = default;
Redactor::~Redactor() = default;

std::string Redactor::redact(std::string content) const {
  const bool is_gzip = content.starts_with(gzip_magic);
  const auto left_out = [](std::string_view reason) { return fmt::format("(omitted, secrets cannot be removed: {})\n", reason); };
  if (!is_gzip && content.size() > largest_file) return left_out(fmt::format("a file of {}", human_size(content.size())));
  Result<std::string> text = is_gzip ? ignition::gunzip(content, largest_file) : Result<std::string>(std::move(content));
  if (!text.ok()) return left_out(text.error().message());
  if (is_gzip && text->starts_with(gzip_magic)) return left_out("gzip in gzip");
  std::size_t left = largest_file;
  Spans found = search_->find(text.value(), deepest, left);
  if (found.empty()) return is_gzip ? content : std::move(text).value();
  std::string redacted = replaced(text.value(), std::move(found));
  if (!is_gzip) return redacted;
  Result<std::string> packed = ignition::gzip(redacted, ignition::Compression::little);
  return packed.ok() ? std::move(packed).value() : left_out(packed.error().message());
}

}  // namespace slipway::diagnosis
