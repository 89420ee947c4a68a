#include "base/check.h"
#include "base/digest.h"
#include "base/number.h"
#include "base/text.h"
#include "base/yaml.h"
#include "base/yaml_scalar.h"

#include <yaml.h>

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace slipway {

namespace {

// Limits against "billion laughs": a document of a few lines whose aliases expand to gigabytes.
constexpr int max_aliases = 10'000;
constexpr int max_values_by_alias = 100'000;

// Owns one event of libyaml.
class Event {
 public:
  Event() = default;
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, yaml_event_t{})) {}
  Event& operator=(Event&& other) noexcept { return std::swap(event_, other.event_), *this; }
  ~Event() { yaml_event_delete(&event_); }

  yaml_event_t* get() { return &event_; }
  yaml_event_type_t type() const { return event_.type; }
  int line() const { return static_cast<int>(event_.start_mark.line) + 1; }
  int column() const { return static_cast<int>(event_.start_mark.column) + 1; }

  std::string_view scalar() const { return {reinterpret_cast<const char*>(event_.data.scalar.value), event_.data.scalar.length}; }
  bool is_plain() const { return event_.data.scalar.plain_implicit && event_.data.scalar.style == YAML_PLAIN_SCALAR_STYLE; }
  std::string tag() const {
    switch (type()) {
      case YAML_SCALAR_EVENT: return text(event_.data.scalar.tag);
      case YAML_SEQUENCE_START_EVENT: return text(event_.data.sequence_start.tag);
      case YAML_MAPPING_START_EVENT: return text(event_.data.mapping_start.tag);
      default: return "";
    }
  }
  std::string anchor() const {
    switch (type()) {
      case YAML_SCALAR_EVENT: return text(event_.data.scalar.anchor);
      case YAML_SEQUENCE_START_EVENT: return text(event_.data.sequence_start.anchor);
      case YAML_MAPPING_START_EVENT: return text(event_.data.mapping_start.anchor);
      case YAML_ALIAS_EVENT: return text(event_.data.alias.anchor);
      default: return "";
    }
  }

 private:
  static std::string text(const yaml_char_t* chars) { return chars ? reinterpret_cast<const char*>(chars) : ""; }

  yaml_event_t event_{};
};

struct Node {
  Json value;
  YamlPlaces places;
  int size = 1;  // number of values in the node, for the limit on aliases
};

// Composes values from the events of libyaml. Returns the first problem that prevents reading further. Collects duplicate keys
// in findings_ and continues.
class Composer {
 public:
  Composer(std::string_view text, std::string_view name) : name_(name) {
    CHECK(yaml_parser_initialize(&parser_) == 1);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  Composer(const Composer&) = delete;
  Composer& operator=(const Composer&) = delete;
  ~Composer() { yaml_parser_delete(&parser_); }

  Result<std::vector<YamlDocument>> documents() {
    std::vector<YamlDocument> all;
    for (;;) {
      Event event = TRY(next());
      if (event.type() == YAML_STREAM_END_EVENT) break;
      if (event.type() != YAML_DOCUMENT_START_EVENT) continue;
      anchors_.clear();
      Node node = TRY(compose(TRY(next()), 0));
      TRY(next());  // the document's end
      all.push_back({std::string(name_), std::move(node.value), std::move(node.places)});
    }
    TRY(findings_.to_result());
    return all;
  }

 private:
  Result<Event> next() {
    Event event;
    if (yaml_parser_parse(&parser_, event.get()) == 1) return event;
    const yaml_mark_t& mark = parser_.problem_mark;
    std::string problem = parser_.problem ? parser_.problem : "cannot be read";
    if (parser_.error == YAML_READER_ERROR) {
      return fail(1, 1, fmt::format("{} at byte {}", problem, parser_.problem_offset));
    }
    if (parser_.context) problem = fmt::format("{} {}", parser_.context, problem);
    return fail(static_cast<int>(mark.line) + 1, static_cast<int>(mark.column) + 1, problem);
  }

  Error fail(int line, int column, std::string_view problem) const {
    return error(Code::invalid, "{}:{}:{}: {}", name_, line, column, problem);
  }
  Error fail(const Event& event, std::string_view problem) const { return fail(event.line(), event.column(), problem); }

  Result<Node> compose(Event event, int depth) {
    if (depth > max_document_depth) {
      return fail(event, fmt::format("nested deeper than {} levels", max_document_depth));
    }
    const std::string anchor = event.anchor();
    if (event.type() == YAML_ALIAS_EVENT) return alias(event, anchor);
    Node node;
    node.places.line = event.line();
    node.places.column = event.column();
    switch (event.type()) {
      case YAML_SCALAR_EVENT: node.value = TRY(scalar(event)); break;
      case YAML_SEQUENCE_START_EVENT: TRY(sequence(event, node, depth)); break;
      default: TRY(mapping(event, node, depth)); break;
    }
    // Added only when the node is complete: an alias inside its own anchor is unknown, which prevents recursion.
    if (!anchor.empty()) anchors_.insert_or_assign(anchor, node);
    return node;
  }

  Result<Node> alias(const Event& event, const std::string& anchor) {
    auto found = anchors_.find(anchor);
    if (found == anchors_.end()) return fail(event, fmt::format("alias *{} has no anchor before it", anchor));
    expanded_ += found->second.size;
    if (++aliases_ > max_aliases || expanded_ > max_values_by_alias) {
      return fail(event, fmt::format("aliases make this document too large (limits: {} aliases, {} values)", max_aliases,
                                     max_values_by_alias));
    }
    // All values of an alias have the place of the alias: that is the line that the user has to change.
    return Node{found->second.value, {event.line(), event.column(), {}}, found->second.size};
  }

  Result<Json> scalar(const Event& event) {
    const std::string tag = event.tag();
    const std::string_view text = event.scalar();
    if (tag.empty() && event.is_plain()) {
      if (auto resolved = yaml::resolve_plain(text)) return std::move(*resolved);
      return Json(text);
    }
    if (tag.empty() || tag == "!" || tag == YAML_STR_TAG) return Json(text);
    if (tag == "tag:yaml.org,2002:binary") {
      std::string compact(text);
      std::erase_if(compact, [](char c) { return c == '\n' || c == ' '; });
      auto bytes = base64_decode(compact);
      if (!bytes.ok()) return fail(event, bytes.error().message());
      if (!is_utf8(bytes.value())) return fail(event, "binary content is not UTF-8 text");
      return Json(std::move(bytes).value());
    }
    auto resolved = yaml::resolve_plain(text);
    const bool fits =
        resolved && ((tag == YAML_NULL_TAG && resolved->is_null()) || (tag == YAML_BOOL_TAG && resolved->is_bool()) ||
                     (tag == YAML_INT_TAG && (resolved->is_int64() || resolved->is_uint64())) ||
                     (tag == YAML_FLOAT_TAG && resolved->is_number()));
    if (!fits) return fail(event, fmt::format("'{}' cannot be read as {}", text, tag));
    if (tag == YAML_FLOAT_TAG) return Json(resolved->to_number<double>());
    return std::move(*resolved);
  }

  Result<> sequence(const Event& start, Node& node, int depth) {
    if (std::string tag = start.tag(); !tag.empty() && tag != YAML_SEQ_TAG) return unknown_tag(start, tag);
    JsonArray& items = node.value.emplace_array();
    for (;;) {
      Event event = TRY(next());
      if (event.type() == YAML_SEQUENCE_END_EVENT) return Ok{};
      Node item = TRY(compose(std::move(event), depth + 1));
      node.size += item.size;
      items.push_back(std::move(item.value));
      node.places.inner.push_back(std::move(item.places));
    }
  }

  Result<> mapping(const Event& start, Node& node, int depth) {
    if (std::string tag = start.tag(); !tag.empty() && tag != YAML_MAP_TAG) return unknown_tag(start, tag);
    JsonObject& members = node.value.emplace_object();
    std::vector<Node> merged;
    for (;;) {
      Event event = TRY(next());
      if (event.type() == YAML_MAPPING_END_EVENT) break;
      if (event.type() != YAML_SCALAR_EVENT)
        return fail(event, "a key must be a single value, not a list, a mapping or an alias");
      const bool merge = event.is_plain() && event.scalar() == "<<";
      std::string key(event.scalar());
      Event value_event = TRY(next());
      Node value = TRY(compose(std::move(value_event), depth + 1));
      node.size += value.size;
      if (merge) {
        TRY(collect_merge(event, std::move(value), merged));
        continue;
      }
      if (auto first = members.find(key); first != members.end()) {
        const YamlPlaces& place = node.places.inner[static_cast<std::size_t>(first - members.begin())];
        findings_.error({std::string(name_), event.line(), event.column()}, key, "duplicate key, first in line {}", place.line)
            .hint("remove one of them");
        continue;
      }
      members.emplace(key, std::move(value.value));
      value.places.line = event.line();
      value.places.column = event.column();
      node.places.inner.push_back(std::move(value.places));
    }
    // Keys of the mapping itself override merged ones; an earlier merge overrides a later one.
    for (Node& source : merged) {
      for (auto& [key, value] : source.value.get_object()) {
        if (members.contains(key)) continue;
        members.emplace(key, std::move(value));
        node.places.inner.push_back({source.places.line, source.places.column, {}});
      }
    }
    return Ok{};
  }

  Result<> collect_merge(const Event& key, Node value, std::vector<Node>& merged) {
    if (value.value.is_object()) {
      merged.push_back(std::move(value));
      return Ok{};
    }
    if (!value.value.is_array()) return fail(key, "<< requires a mapping or a list of mappings");
    for (Json& item : value.value.get_array()) {
      if (!item.is_object()) return fail(key, "<< requires a mapping or a list of mappings");
      merged.push_back({std::move(item), {value.places.line, value.places.column, {}}});
    }
    return Ok{};
  }

  Error unknown_tag(const Event& event, const std::string& tag) const { return fail(event, fmt::format("unknown tag {}", tag)); }

  std::string_view name_;
  yaml_parser_t parser_{};
  std::map<std::string, Node, std::less<>> anchors_;
  int aliases_ = 0;
  int expanded_ = 0;
  Findings findings_;
};

// Removes the first step from a path: "spec.tags[3]" -> "spec"; "[3].x" -> "[3]". A key with dots is written as ["..."].
std::string_view take_step(std::string_view& path) {
  if (path.starts_with('.')) path.remove_prefix(1);
  std::size_t end;
  if (path.starts_with('[')) {
    end = path.starts_with("[\"") ? path.find("\"]") + 2 : path.find(']') + 1;
    if (end < 2) end = path.size();  // no closing bracket
  } else {
    end = path.find_first_of(".[");
  }
  std::string_view step = path.substr(0, end);
  path.remove_prefix(step.size());
  return step;
}

// Value of the escape \uXXXX at the start of the text; nullopt if there is none.
std::optional<std::uint32_t> escaped_unit(std::string_view text) {
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return std::nullopt;
  return parse_number<std::uint32_t>(text.substr(2, 4), 16);
}

// JSON writes characters above U+FFFF as two escapes, which YAML does not support. This replaces them by the character.
std::string join_surrogates(std::string_view json) {
  std::string text;
  while (!json.empty()) {
    const std::optional<std::uint32_t> high = escaped_unit(json);
    const std::optional<std::uint32_t> low = high ? escaped_unit(json.substr(6)) : std::nullopt;
    if (low && *high >= 0xd800 && *high < 0xdc00 && *low >= 0xdc00 && *low < 0xe000) {
      const std::uint32_t character = 0x10000 + ((*high - 0xd800) << 10) + (*low - 0xdc00);
      text += static_cast<char>(0xf0 | character >> 18);
      for (int shift : {12, 6, 0}) text += static_cast<char>(0x80 | (character >> shift & 0x3f));
      json.remove_prefix(12);
    } else {
      // An escaped backslash has two characters; the text after it is not an escape.
      const std::size_t taken = json.starts_with("\\\\") ? 2 : 1;
      text.append(json.substr(0, taken));
      json.remove_prefix(taken);
    }
  }
  return text;
}

bool looks_like_json(std::string_view text) { return trim(text).starts_with('{') || trim(text).starts_with('['); }

}  // namespace

Place YamlDocument::place_of(std::string_view field) const {
  const Json* at = &value;
  const YamlPlaces* spot = &places;
  while (!field.empty()) {
    std::string_view step = take_step(field);
    std::size_t index = spot->inner.size();
    if (step.starts_with("[\"") && step.ends_with("\"]")) step = step.substr(2, step.size() - 4);
    if (const JsonObject* object = at->if_object()) {
      auto member = object->find(step);
      if (member == object->end()) break;
      index = static_cast<std::size_t>(member - object->begin());
      at = &member->value();
    } else if (const JsonArray* array = at->if_array()) {
      if (!step.starts_with('[')) break;
      std::string_view rest = std::string_view(step).substr(1);
      const std::optional<std::size_t> item = take_number<std::size_t>(rest);
      if (!item || rest.empty() || *item >= array->size()) break;
      index = *item;
      at = &(*array)[index];
    } else {
      break;
    }
    if (index >= spot->inner.size()) break;  // inside an alias
    spot = &spot->inner[index];
  }
  return {name, spot->line, spot->column};
}

Result<std::vector<YamlDocument>> parse_yaml_documents(std::string_view text, std::string_view name) {
  // libyaml derives the encoding from a byte order mark; this text is always UTF-8.
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::string joined;
  if (looks_like_json(text) && text.find("\\u") != std::string_view::npos) text = joined = join_surrogates(text);
  std::vector<YamlDocument> all = TRY(Composer(text, name).documents());
  std::erase_if(all, [](const YamlDocument& document) { return document.value.is_null(); });
  return all;
}

Result<YamlDocument> parse_yaml(std::string_view text, std::string_view name) {
  std::vector<YamlDocument> all = TRY(parse_yaml_documents(text, name));
  if (all.empty()) return YamlDocument{std::string(name), nullptr, {1, 1, {}}};
  if (all.size() > 1) {
    return error(Code::invalid, "{}:{}:1: a second document, but only one is allowed", name, all[1].places.line);
  }
  return std::move(all.front());
}

}  // namespace slipway
