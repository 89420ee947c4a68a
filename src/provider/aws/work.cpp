#include "provider/aws/work.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::provider::aws {

Parameters tags_of(const Account& account, std::string_view name) {
  Parameters tags = {
      {"Name", std::string(name)}, {cluster_tag(account.infra_id), "owned"}, {std::string(own_tag), account.infra_id}};
  std::ranges::copy(account.tags, std::back_inserter(tags));
  return tags;
}

void add_ec2_tags(Parameters& parameters, int number, std::string_view type, const Parameters& tags) {
  const std::string prefix = fmt::format("TagSpecification.{}", number);
  parameters.emplace_back(prefix + ".ResourceType", type);
  int i = 0;
  for (const auto& [key, value] : tags) {
    ++i;
    parameters.emplace_back(fmt::format("{}.Tag.{}.Key", prefix, i), key);
    parameters.emplace_back(fmt::format("{}.Tag.{}.Value", prefix, i), value);
  }
}

void add_member_tags(Parameters& parameters, const Parameters& tags) {
  int i = 0;
  for (const auto& [key, value] : tags) {
    ++i;
    parameters.emplace_back(fmt::format("Tags.member.{}.Key", i), key);
    parameters.emplace_back(fmt::format("Tags.member.{}.Value", i), value);
  }
}

Parameters cluster_filter(const Account& account) {
  return {{"Filter.1.Name", "tag:" + cluster_tag(account.infra_id)}, {"Filter.1.Value.1", "owned"}};
}

bool is_tagged(const Account& account, const Xml& item) { return tag_of(item, cluster_tag(account.infra_id)) == "owned"; }

std::string tag_of(const Xml& item, std::string_view key) {
  for (const Xml& tag : item.at({"tagSet"}).children) {
    if (tag.text_at({"key"}) == key) return tag.text_at({"value"});
  }
  return "";
}

}  // namespace slipway::provider::aws
