#include "ignition/validate.h"

#include "ignition/fields.h"
#include "ignition/translate.h"
#include "ignition/validate_rules.h"

#include <map>

namespace slipway::ignition {

namespace {

class Validator {
 public:
  Validator(const Config& config, std::string root) : config_(config), root_(std::move(root)) {}

  Findings run() {
    visit(config_, root_);
    for (const Feature& feature : features_after(config_, config_.ignition.version)) {
      const std::string path = root_.empty() ? feature.field : root_ + "." + feature.field;
      report_.findings
          .add({feature.in_older,
                {},
                path,
                fmt::format("{} requires spec {}, but this config has {}", feature.what, to_string(feature.since),
                            to_string(config_.ignition.version)),
                ""})
          .hint(fmt::format("set ignition.version to {}", to_string(feature.since)));
    }
    return std::move(report_.findings);
  }

 private:
  template <class T>
  void visit(const T& value, const std::string& path) {
    if constexpr (IsStruct<T>) {
      check(value, path, report_);
      check_duplicates(value, path);
      for_each_field<T>([&](const auto& field) {
        const auto& member = value.*field.member;
        if constexpr (IsStruct<std::remove_cvref_t<decltype(member)>>) {
          visit(member, member_path(path, field.name));
        } else if constexpr (is_list<std::remove_cvref_t<decltype(member)>>) {
          for (std::size_t i = 0; i < member.size(); ++i) visit(member[i], item_path(member_path(path, field.name), i));
        }
      });
    }
  }

  template <IsStruct T>
  void check_duplicates(const T& value, const std::string& path) {
    std::map<std::string, std::string, std::less<>> shared;  // key: path of its first item
    for_each_field<T>([&](const auto& field) {
      if constexpr (is_list<std::remove_cvref_t<decltype(value.*field.member)>>) {
        if (field.rules.concatenated) return;
        std::map<std::string, std::string, std::less<>> own;
        auto& seen = field.rules.shares_keys ? shared : own;
        const auto& list = value.*field.member;
        for (std::size_t i = 0; i < list.size(); ++i) {
          const std::string here = item_path(member_path(path, field.name), i);
          const auto [first, added] = seen.emplace(key_of(list[i]), here);
          if (added) continue;
          // A source may contain a whole config, or credentials.
          const bool is_source = std::is_same_v<std::remove_cvref_t<decltype(list[i])>, Resource>;
          const std::string what = is_source ? "this source" : fmt::format("'{}'", first->first);
          report_.findings.error({}, here, "{} is a duplicate, first in {}", what, first->second);
        }
      }
    });
  }

  const Config& config_;
  std::string root_;
  Report report_;
};

}  // namespace

Findings validate(const Config& config, const std::string& root) { return Validator(config, root).run(); }

Result<Parsed> read_config(std::string_view text, std::string_view name) {
  Parsed parsed = parse(TRY(parse_json(text, name)));
  if (!parsed.findings.has_errors()) parsed.findings.append(validate(parsed.config));
  parsed.findings = located(parsed.findings, text, name);
  TRY(parsed.findings.to_result());
  return parsed;
}

}  // namespace slipway::ignition
