#include "diagnosis/redact.h"

#include "diagnosis/encodings.h"
#include "diagnosis/secret_forms.h"

#include "base/text.h"
#include "ignition/gzip.h"

#include <fmt/core.h>

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace slipway::diagnosis {

namespace {

constexpr std::string_view mark = "***";
constexpr std::string_view gzip_magic = "\x1f\x8b\x08";
constexpr std::size_t shortest_run = 16;       // shorter runs of base64 are not decoded
constexpr std::size_t shortest_key_line = 16;  // shorter lines of a known private key are not searched for

std::size_t end_of_line(std::string_view text, std::size_t begin) { return std::min(text.find('\n', begin), text.size()); }

// Searches for many texts in one pass.
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
        // The encoded bytes around the secret reveal parts of it.
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

// Whether decoded bytes look like text. Other bytes are searched for known values and private keys only.
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
  std::string result;
  std::size_t at = 0;
  for (const Span& span : spans) {
    result.append(text.substr(at, span.begin - at)).append(mark);
    at = span.end;
  }
  return result.append(text.substr(at));
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
      // Logs may contain single lines of a key.
      for (const std::string_view line : split(value, '\n')) {
        if (line.size() >= shortest_key_line && !line.starts_with("-----")) learn(trim(line));
      }
    }
  }

  // left: how many bytes may still be unpacked from gzip data in the text
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
    find_secret_forms(text, found);
  }

  // A segment is a line, or consecutive lines of wrapped base64. Returns where the next segment begins.
  std::size_t find_in_segment(std::string_view text, std::size_t begin, int depth, std::size_t& left, Spans& found) const {
    const std::size_t end = end_of_line(text, begin);
    const std::string_view line = text.substr(begin, end - begin);
    if (is_wrapped(line)) {
      std::string joined(trim(line));
      std::size_t last = end;
      std::size_t after = end;  // end of the data
      while (last < text.size()) {
        const std::size_t next = end_of_line(text, last + 1);
        const std::string_view more = text.substr(last + 1, next - last - 1);
        if (!is_wrapped(more)) {
          // The last line may be short, and other words may follow the data. The length of padded data is a multiple of four.
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
    find_in_view(unescape_percent(line));
    find_in_view(unescape_backslash(line));
  }

  // The encoded data may begin at any character of the run: a word or a path may precede it.
  bool has_secret_in_base64(std::string_view run, int depth, std::size_t& left) const {
    run = run.substr(0, run.find_last_not_of('=') + 1);
    for (std::size_t skipped = 0; skipped < 4 && skipped < run.size(); ++skipped) {
      if (has_secret(decode_base64(run.substr(skipped)), depth, left)) return true;
    }
    // Base64 of gzip data, at any position.
    constexpr std::string_view begin_of_gzip = "H4sI";
    for (std::size_t at = run.find(begin_of_gzip); at != std::string_view::npos; at = run.find(begin_of_gzip, at + 1)) {
      if (has_secret(decode_base64(run.substr(at)), depth, left)) return true;
    }
    return false;
  }

  // Data that cannot be unpacked counts as secret.
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
  Result<std::string> packed = ignition::gzip(redacted, ignition::Compression::fast);
  return packed.ok() ? std::move(packed).value() : left_out(packed.error().message());
}

}  // namespace slipway::diagnosis
