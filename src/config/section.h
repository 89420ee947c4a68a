// A part of the document with its path: what the rules are written with. Private to the folder.
//
//   platform.need("region", "the one that the machines are made in, 'eu-west-1'");
//   platform.one_of("lbType", {"Classic", "NLB"});
//   for (const Section& host : platform.items("hosts")) host.need("name", "...");
//
// A value that is missing, of another kind or empty counts as not given, as in Go; what the reader refused was said there and is
// not said again. Sections do not outlive the document, which does not change meanwhile.
#pragma once

#include "base/json.h"
#include "config/document.h"
#include "net/ip.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::config {

class Section {
 public:
  // What these keys reach from the document's top.
  Section(Document& document, std::initializer_list<std::string_view> keys);

  Document& document() const { return *document_; }
  const Json& value() const { return *value_; }
  const std::string& path() const { return path_; }
  std::string path(std::string_view name) const;

  // A member, or nothing at its path.
  Section at(std::string_view name) const;
  // The items of a list, without those that the reader could not use.
  std::vector<Section> items(std::string_view name) const;

  bool has(std::string_view name) const;  // with content (is_empty)
  std::string_view text() const;          // this value itself
  std::string_view text(std::string_view name) const;
  std::optional<std::int64_t> number(std::string_view name) const;

  template <class... Args>
  Findings::Added error(fmt::format_string<Args...> text, Args&&... args) const {
    return document_->error(path_, text, std::forward<Args>(args)...);
  }
  template <class... Args>
  Findings::Added error_at(std::string_view name, fmt::format_string<Args...> text, Args&&... args) const {
    return document_->error(path(name), text, std::forward<Args>(args)...);
  }

  // The usual rules, of a member or of this value. All but need() let what is not given pass; their answer is whether the value
  // is there and good.
  bool need(std::string_view name, std::string_view hint) const;
  bool one_of(std::string_view name, const std::vector<std::string_view>& words) const;
  bool not_negative(std::string_view name) const;
  bool at_least_one(std::string_view name) const;  // a number above 0
  bool unique_id() const;                          // a UUID
  std::optional<net::IpAddress> address() const;

 private:
  Section(Document& document, const Json* value, std::string path)
      : document_(&document), value_(value), path_(std::move(path)) {}

  Document* document_;
  const Json* value_;
  std::string path_;
};

// Values that may stand in one place only.
class Distinct {
 public:
  // Reports a text that another place has too, compared by `key`. It is not quoted: some hold secrets.
  void add(const Section& value, std::string key);
  void add(const Section& value) { add(value, std::string(value.text())); }

 private:
  std::map<std::string, std::string> places_;  // key: path
};

// "a, b or c"
std::string choice_of(const std::vector<std::string_view>& words);

}  // namespace slipway::config
