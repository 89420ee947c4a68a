#include "base/json.h"

#include "base/number.h"
#include "base/text.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>

#include <cmath>
#include <utility>
#include <vector>

namespace slipway {

namespace {

// Builds a value from the events of Boost's parser. Two things differ from Boost's own builder: duplicate keys are an error, and
// base/number.h converts doubles, because the parser of Boost 1.81 misses the nearest double for one number in seven.
class ValueBuilder {
 public:
  static constexpr std::size_t max_object_size = std::size_t(-1);
  static constexpr std::size_t max_array_size = std::size_t(-1);
  static constexpr std::size_t max_key_size = std::size_t(-1);
  static constexpr std::size_t max_string_size = std::size_t(-1);

  using error_code = boost::json::error_code;

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return begin(JsonObject()); }
  bool on_object_end(std::size_t, error_code&) { return end(); }
  bool on_array_begin(error_code&) { return begin(JsonArray()); }
  bool on_array_end(std::size_t, error_code&) { return end(); }
  bool on_key_part(std::string_view part, std::size_t, error_code&) { return text_.append(part), true; }
  bool on_key(std::string_view part, std::size_t, error_code& ec) {
    text_.append(part);
    Open& open = open_.back();
    if (open.value.get_object().contains(text_)) return fail(fmt::format("duplicate key '{}' in one object", text_), ec);
    open.key = std::exchange(text_, {});
    return true;
  }
  bool on_string_part(std::string_view part, std::size_t, error_code&) { return text_.append(part), true; }
  bool on_string(std::string_view part, std::size_t, error_code&) {
    text_.append(part);
    return add(Json(std::exchange(text_, {})));
  }
  bool on_number_part(std::string_view part, error_code&) { return text_.append(part), true; }
  bool on_int64(std::int64_t number, std::string_view, error_code&) { return text_.clear(), add(number); }
  bool on_uint64(std::uint64_t number, std::string_view, error_code&) { return text_.clear(), add(number); }
  bool on_double(double number, std::string_view part, error_code& ec) {
    text_.append(part);
    // For a number too small for a double, keep the parser's result: zero.
    number = parse_number<double>(text_).value_or(number);
    if (std::isinf(number)) return fail("a number that is too large", ec);
    return text_.clear(), add(number);
  }
  bool on_bool(bool value, error_code&) { return add(value); }
  bool on_null(error_code&) { return add(nullptr); }
  bool on_comment_part(std::string_view, error_code&) { return true; }
  bool on_comment(std::string_view, error_code&) { return true; }

  // The error of this class, as opposed to one of the parser.
  const std::optional<std::string>& problem() const { return problem_; }
  Json take() { return std::move(root_); }

 private:
  struct Open {
    Json value;
    std::string key;  // of the next member
  };

  bool fail(std::string problem, error_code& ec) {
    problem_ = std::move(problem);
    ec = boost::json::error::exception;  // any error ends the parser
    return false;
  }
  bool begin(Json value) {
    open_.push_back({std::move(value), {}});
    return true;
  }
  bool end() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    return add(std::move(value));
  }
  bool add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Open& open = open_.back(); open.value.is_array()) {
      open.value.get_array().push_back(std::move(value));
    } else {
      open.value.get_object().emplace(open.key, std::move(value));
    }
    return true;
  }

  Json root_;
  std::vector<Open> open_;
  std::string text_;  // the parts so far of the current key, string or number
  std::optional<std::string> problem_;
};

// "name:line:column" of a byte offset.
std::string place_of(std::string_view name, std::string_view text, std::size_t offset) {
  int line = 1, column = 1;
  for (char c : text.substr(0, offset)) {
    if (c == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
  return fmt::format("{}:{}:{}", name, line, column);
}

class Writer {
 public:
  explicit Writer(JsonStyle style) : pretty_(style == JsonStyle::pretty) {}

  void value(const Json& v) {
    switch (v.kind()) {
      case boost::json::kind::null: out_ += "null"; break;
      case boost::json::kind::bool_: out_ += v.get_bool() ? "true" : "false"; break;
      case boost::json::kind::int64: out_ += fmt::format("{}", v.get_int64()); break;
      case boost::json::kind::uint64: out_ += fmt::format("{}", v.get_uint64()); break;
      case boost::json::kind::double_: number(v.get_double()); break;
      case boost::json::kind::string: string(v.get_string()); break;
      case boost::json::kind::array: collection('[', ']', v.get_array(), [this](const Json& item) { value(item); }); break;
      case boost::json::kind::object:
        collection('{', '}', v.get_object(), [this](const auto& member) {
          string(member.key());
          out_ += pretty_ ? ": " : ":";
          value(member.value());
        });
        break;
    }
  }

  std::string take() {
    if (pretty_) out_ += '\n';
    return std::move(out_);
  }

 private:
  template <class Items, class WriteItem>
  void collection(char open, char close, const Items& items, WriteItem write_item) {
    out_ += open;
    ++depth_;
    bool first = true;
    for (const auto& item : items) {
      if (!std::exchange(first, false)) out_ += ',';
      line_break();
      write_item(item);
    }
    --depth_;
    if (!first) line_break();
    out_ += close;
  }

  void line_break() {
    if (pretty_) out_.append("\n").append(static_cast<std::size_t>(depth_) * 2, ' ');
  }

  void number(double d) {
    if (!std::isfinite(d)) {
      out_ += "null";
      return;
    }
    char text[32];
    char* end = std::to_chars(text, text + sizeof text, d).ptr;
    std::string_view digits(text, static_cast<std::size_t>(end - text));
    out_ += digits;
    // Mark it as a double, so that it is read back as one.
    if (digits.find_first_of(".e") == std::string_view::npos) out_ += ".0";
  }

  void string(std::string_view text) {
    if (!is_utf8(text)) return string(to_utf8(text));
    out_ += '"';
    for (char c : text) {
      switch (c) {
        case '"': out_ += "\\\""; break;
        case '\\': out_ += "\\\\"; break;
        case '\n': out_ += "\\n"; break;
        case '\r': out_ += "\\r"; break;
        case '\t': out_ += "\\t"; break;
        default:
          if (static_cast<unsigned char>(c) < 0x20) {
            out_ += fmt::format("\\u{:04x}", static_cast<int>(c));
          } else {
            out_ += c;
          }
      }
    }
    out_ += '"';
  }

  bool pretty_;
  int depth_ = 0;
  std::string out_;
};

std::string join_path(std::initializer_list<std::string_view> keys) {
  std::string path;
  for (std::string_view key : keys) path.append(path.empty() ? "" : ".").append(key);
  return path;
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view name) {
  boost::json::parse_options options;
  options.max_depth = max_document_depth;
  boost::json::basic_parser<ValueBuilder> parser(options);
  boost::json::error_code ec;
  // The parser stops after the document, so that the error can name what follows. Blanks after the document are allowed.
  std::size_t read = parser.write_some(false, text.data(), text.size(), ec);
  const ValueBuilder& built = parser.handler();
  if (built.problem()) return error(Code::invalid, "{}: {}", place_of(name, text, read), *built.problem());
  if (ec == boost::json::error::incomplete) {
    return error(Code::invalid, "{}: unexpected end of the document", place_of(name, text, text.size()));
  }
  if (ec == boost::json::error::too_deep) {
    return error(Code::invalid, "{}: nested deeper than {} levels", place_of(name, text, read), max_document_depth);
  }
  if (ec) return error(Code::invalid, "{}: {}", place_of(name, text, read), ec.message());
  std::size_t rest = text.find_first_not_of(" \t\r\n", read);
  if (rest != std::string_view::npos) return error(Code::invalid, "{}: text after the document", place_of(name, text, rest));
  return parser.handler().take();
}

std::string emit_json(const Json& value, JsonStyle style) {
  Writer writer(style);
  writer.value(value);
  return writer.take();
}

const Json* find(const Json& value, std::initializer_list<std::string_view> keys) {
  const Json* at = &value;
  for (std::string_view key : keys) {
    const JsonObject* object = at->if_object();
    at = object ? object->if_contains(key) : nullptr;
    if (!at) return nullptr;
  }
  return at;
}

std::optional<std::string_view> find_string(const Json& value, std::initializer_list<std::string_view> keys) {
  const Json* found = find(value, keys);
  if (!found || !found->is_string()) return std::nullopt;
  return std::string_view(found->get_string());
}

const JsonArray& find_array(const Json& value, std::initializer_list<std::string_view> keys) {
  static const JsonArray none;
  const Json* found = find(value, keys);
  return found && found->is_array() ? found->get_array() : none;
}

const JsonObject& find_object(const Json& value, std::initializer_list<std::string_view> keys) {
  static const JsonObject none;
  const Json* found = find(value, keys);
  return found && found->is_object() ? found->get_object() : none;
}

std::string text_of(const Json& value, std::initializer_list<std::string_view> keys) {
  return std::string(find_string(value, keys).value_or(""));
}

std::vector<std::string> texts_of(const Json& value, std::initializer_list<std::string_view> keys) {
  std::vector<std::string> texts;
  for (const Json& item : find_array(value, keys)) {
    if (item.is_string()) texts.emplace_back(item.get_string());
  }
  return texts;
}

JsonArray array_of(const std::vector<std::string>& texts) { return JsonArray(texts.begin(), texts.end()); }

bool is_true(const Json& value, std::initializer_list<std::string_view> keys) {
  const Json* found = find(value, keys);
  return found && found->is_bool() && found->get_bool();
}

int integer_of(const Json& value, std::initializer_list<std::string_view> keys) {
  const Json* found = find(value, keys);
  if (found == nullptr) return 0;
  if (found->is_uint64()) return std::in_range<int>(found->get_uint64()) ? static_cast<int>(found->get_uint64()) : 0;
  return found->is_int64() && std::in_range<int>(found->get_int64()) ? static_cast<int>(found->get_int64()) : 0;
}

Result<std::string> require_string(const Json& value, std::initializer_list<std::string_view> keys) {
  const Json* found = find(value, keys);
  if (!found) return error(Code::invalid, "{}: missing, must be a string", join_path(keys));
  if (!found->is_string()) return error(Code::invalid, "{}: must be a string, got {}", join_path(keys), kind_name(*found));
  return std::string(found->get_string());
}

std::string_view kind_name(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null: return "null";
    case boost::json::kind::bool_: return "a boolean";
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
    case boost::json::kind::double_: return "a number";
    case boost::json::kind::string: return "a string";
    case boost::json::kind::array: return "a list";
    case boost::json::kind::object: return "an object";
  }
  return "a value";
}

}  // namespace slipway
