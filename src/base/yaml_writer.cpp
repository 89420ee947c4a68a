#include "base/check.h"
#include "base/text.h"
#include "base/yaml.h"
#include "base/yaml_scalar.h"

#include <yaml.h>

namespace slipway {

namespace {

int append_to_string(void* out, unsigned char* bytes, std::size_t size) {
  static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), size);
  return 1;
}

// Drives libyaml's emitter. Its calls fail only without memory or for events out of order; input cannot cause that.
class Writer {
 public:
  // as_go: the default style of Go's library, which folds lines and writes versions ("3.5.0") without quotes.
  explicit Writer(bool as_go = false) : as_go_(as_go) {
    CHECK(yaml_emitter_initialize(&emitter_) == 1);
    yaml_emitter_set_output(&emitter_, append_to_string, &out_);
    yaml_emitter_set_unicode(&emitter_, 1);
    yaml_emitter_set_indent(&emitter_, 2);
    yaml_emitter_set_width(&emitter_, as_go ? 80 : -1);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { yaml_emitter_delete(&emitter_); }

  std::string document(const Json& root) {
    yaml_event_t event;
    yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
    emit(event);
    yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1);
    emit(event);
    value(root);
    yaml_document_end_event_initialize(&event, 1);
    emit(event);
    yaml_stream_end_event_initialize(&event);
    emit(event);
    return std::move(out_);
  }

 private:
  void emit(yaml_event_t& event) { CHECK(yaml_emitter_emit(&emitter_, &event) == 1); }

  void value(const Json& v) {
    switch (v.kind()) {
      case boost::json::kind::array: {
        const JsonArray& items = v.get_array();
        yaml_event_t event;
        yaml_sequence_start_event_initialize(&event, nullptr, nullptr, 1,
                                             items.empty() ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE);
        emit(event);
        for (const Json& item : items) value(item);
        yaml_sequence_end_event_initialize(&event);
        emit(event);
        break;
      }
      case boost::json::kind::object: {
        const JsonObject& members = v.get_object();
        yaml_event_t event;
        yaml_mapping_start_event_initialize(&event, nullptr, nullptr, 1,
                                            members.empty() ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE);
        emit(event);
        for (const auto& member : members) {
          string(member.key());
          value(member.value());
        }
        yaml_mapping_end_event_initialize(&event);
        emit(event);
        break;
      }
      case boost::json::kind::string: string(v.get_string()); break;
      default: scalar(emit_json(v, JsonStyle::compact), YAML_PLAIN_SCALAR_STYLE);
    }
  }

  void string(std::string_view text) {
    if (!is_utf8(text)) return string(to_utf8(text));
    yaml_scalar_style_t style = YAML_PLAIN_SCALAR_STYLE;
    if (yaml::is_ambiguous(text) && !(as_go_ && is_version(text))) {
      style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    } else if (text.find('\n') != std::string_view::npos) {
      style = fits_literal_block(text) ? YAML_LITERAL_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    }
    scalar(text, style);
  }

  static bool is_version(std::string_view text) {
    return text.find_first_not_of("0123456789.") == std::string_view::npos && text.find('.') != text.rfind('.');
  }

  // libyaml 0.2 does not write a block so that it reads back as the same text if its first line is blank, a line starts with a
  // tab, or it has line breaks other than \n.
  static bool fits_literal_block(std::string_view text) {
    return text.front() != ' ' && text.front() != '\n' && text.front() != '\t' && text.find("\n\t") == std::string_view::npos &&
           text.find('\r') == std::string_view::npos && text.find("\xc2\x85") == std::string_view::npos &&
           text.find("\xe2\x80\xa8") == std::string_view::npos && text.find("\xe2\x80\xa9") == std::string_view::npos;
  }

  // The style is a preference: where YAML does not allow it, libyaml uses single quotes, or double quotes where those fail.
  void scalar(std::string_view text, yaml_scalar_style_t style) {
    yaml_event_t event;
    // libyaml copies the text; the parameter is non-const for historical reasons.
    auto* bytes = const_cast<yaml_char_t*>(reinterpret_cast<const yaml_char_t*>(text.data()));
    CHECK(yaml_scalar_event_initialize(&event, nullptr, nullptr, bytes, static_cast<int>(text.size()), 1, 1, style) == 1);
    emit(event);
  }

  bool as_go_;
  yaml_emitter_t emitter_{};
  std::string out_;
};

}  // namespace

std::string emit_yaml(const Json& value) { return Writer().document(value); }

std::string emit_go_yaml(const Json& value) { return Writer(true).document(value); }

}  // namespace slipway
