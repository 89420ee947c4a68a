// A part of the document with its path, and checks for the rules. Private to the folder.
//
//   platform.need("region", "the one that the machines are made in, 'eu-west-1'");
//   platform.one_of("lbType", {"Classic", "NLB"});
//   for (const Section& host : platform.items("hosts")) host.need("name", "...");
//
// As in Go, a value that is missing, empty or of another kind counts as not given. Values that the reader has rejected are not
// reported again. A section must not outlive its document, and the document must not change.
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
  // The value at these keys, from the top of the document.
  Section(Document& document, std::initializer_list<std::string_view> keys);

  Document& document() const { return *document_; }
  const Json& value() const { return *value_; }
  const std::string& path() const { return path_; }
  std::string path(std::string_view name) const;

  // A member. If there is none: null, with the path of the member.
  Section at(std::string_view name) const;
  // The items of a list, without items that the reader could not use.
  std::vector<Section> items(std::string_view name) const;

  bool has(std::string_view name) const;  // the member is not empty (is_empty)
  std::string_view text() const;          // this value
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

  // Common checks of a member or of this value. They return whether the value is given and valid. Only need() reports a value
  // that is not given.
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

// Reports duplicates in a set of values.
class Distinct {
 public:
  // Reports a value whose key was added before. The message does not quote the value: it may contain secrets.
  void add(const Section& value, std::string key);
  void add(const Section& value) { add(value, std::string(value.text())); }

 private:
  std::map<std::string, std::string> places_;  // key: path
};

// "a, b or c"
std::string choice_of(const std::vector<std::string_view>& words);

}  // namespace slipway::config
