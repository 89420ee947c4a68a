// Roles, instance profiles, and the bucket with configs of machines.
#include "provider/aws/work.h"

#include "data/data.h"

#include <fmt/core.h>

#include <array>

namespace slipway::provider::aws {

namespace {

constexpr std::string_view policy_name = "slipway";

Call iam(std::string_view action, const std::string& object, Parameters parameters, Effect effect = Effect::none) {
  Call call{.service = Service::iam, .action = std::string(action), .object = object, .effect = effect};
  call.parameters = std::move(parameters);
  if (effect != Effect::none) call.waits_for = {Failure::not_found};
  return call;
}

Result<Reply> ask_iam(const Work& work, std::string_view action, const std::string& object, Parameters parameters) {
  Call call = iam(action, object, std::move(parameters));
  call.expected = {Failure::not_found};
  return work.send(call);
}

Result<> remove_by(const Work& work, std::string_view action, const std::string& object, Parameters parameters) {
  Call call = iam(action, object, std::move(parameters), Effect::once);
  call.waits_for.clear();
  call.expected = {Failure::not_found};
  TRY(work.send(call));
  return Ok{};
}

bool has_tag(const Work& work, const Xml& tags) {
  for (const Xml& pair : tags.children) {
    if (pair.text_at({"Key"}) == cluster_tag(work.account.infra_id) && pair.text_at({"Value"}) == "owned") return true;
  }
  return false;
}

// ---- roles

Result<std::vector<Item>> list_roles(const Work& work) {
  std::vector<Item> items;
  for (const std::string& name : role_names(work.account.infra_id)) {
    const Reply role = TRY(ask_iam(work, "GetRole", name, {{"RoleName", name}}));
    if (role.failure) continue;
    // Set last.
    const Reply policy =
        TRY(ask_iam(work, "GetRolePolicy", name, {{"RoleName", name}, {"PolicyName", std::string(policy_name)}}));
    items.push_back({.kind = std::string(role_kind),
                     .name = name,
                     .id = name,
                     .is_ours = has_tag(work, role.xml.at({"GetRoleResult", "Role", "Tags"})),
                     .is_whole = !policy.failure});
  }
  return items;
}

Result<Item> create_role(const Work& work, const plan::Resource& resource) {
  const std::string region = TRY(work.account.api.region());
  const std::string principal = region.starts_with("cn-") ? "ec2.amazonaws.com.cn" : "ec2.amazonaws.com";
  const Json trust = {
      {"Version", "2012-10-17"},
      {"Statement", JsonArray{{{"Effect", "Allow"}, {"Principal", {{"Service", principal}}}, {"Action", "sts:AssumeRole"}}}}};
  Parameters parameters = {{"RoleName", resource.name}, {"AssumeRolePolicyDocument", emit_json(trust, JsonStyle::compact)}};
  add_member_tags(parameters, tags_of(work.account, resource.name));
  TRY(work.send(iam("CreateRole", resource.name, std::move(parameters), Effect::twice)));
  TRY(work.send(iam("PutRolePolicy", resource.name,
                    {{"RoleName", resource.name},
                     {"PolicyName", std::string(policy_name)},
                     {"PolicyDocument", std::string(data::content(data::provider(), text(resource, "policy")))}},
                    Effect::once)));
  return item_of(resource, resource.name);
}

Result<> remove_role(const Work& work, const Item& item) {
  TRY(remove_by(work, "DeleteRolePolicy", item.name, {{"RoleName", item.name}, {"PolicyName", std::string(policy_name)}}));
  return remove_by(work, "DeleteRole", item.name, {{"RoleName", item.name}});
}

// ---- instance profiles

Result<std::vector<Item>> list_profiles(const Work& work) {
  std::vector<Item> items;
  for (const std::string& name : profile_names(work.account.infra_id)) {
    const Reply reply = TRY(ask_iam(work, "GetInstanceProfile", name, {{"InstanceProfileName", name}}));
    if (reply.failure) continue;
    const Xml& found = reply.xml.at({"GetInstanceProfileResult", "InstanceProfile"});
    Item item{.kind = std::string(instance_profile_kind), .name = name, .id = name};
    item.is_ours = has_tag(work, found.at({"Tags"}));
    item.facts["role"] = found.text_at({"Roles", "member", "RoleName"});
    item.is_whole = !item.fact("role").empty();
    items.push_back(std::move(item));
  }
  return items;
}

Result<Item> create_profile(const Work& work, const plan::Resource& resource) {
  const std::string role = TRY(work.id_of(text(resource, "role")));
  Parameters parameters = {{"InstanceProfileName", resource.name}};
  add_member_tags(parameters, tags_of(work.account, resource.name));
  TRY(work.send(iam("CreateInstanceProfile", resource.name, std::move(parameters), Effect::twice)));
  TRY(work.send(iam("AddRoleToInstanceProfile", resource.name, {{"InstanceProfileName", resource.name}, {"RoleName", role}},
                    Effect::twice)));
  Item item = item_of(resource, resource.name);
  item.facts = {{"role", role}};
  return item;
}

Result<> remove_profile(const Work& work, const Item& item) {
  if (const std::string role = item.fact("role"); !role.empty()) {
    TRY(remove_by(work, "RemoveRoleFromInstanceProfile", item.name, {{"InstanceProfileName", item.name}, {"RoleName", role}}));
  }
  return remove_by(work, "DeleteInstanceProfile", item.name, {{"InstanceProfileName", item.name}});
}

// ---- the bucket

Call s3(std::string_view action, const std::string& object, std::string method, std::string target,
        Effect effect = Effect::none) {
  Call call{.service = Service::s3, .action = std::string(action), .object = object, .effect = effect};
  call.method = std::move(method);
  call.target = std::move(target);
  if (effect != Effect::none) call.waits_for = {Failure::not_found};
  return call;
}

// Bucket names are unique among all accounts. Another account's bucket is not listed; creating one is then a conflict.
Result<std::vector<Item>> list_buckets(const Work& work) {
  const std::string name = bucket_name(work.account.infra_id);
  Call call = s3("GetBucketTagging", name, "GET", fmt::format("/{}?tagging=", name));
  call.expected = {Failure::not_found, Failure::denied};
  const Reply tagging = TRY(work.send(call));
  std::vector<Item> items;
  // Its creation was interrupted before it got them.
  const bool has_no_tags = tagging.failure && tagging.failure->code == "NoSuchTagSet";
  if (tagging.failure && !has_no_tags) return items;
  // Set last.
  call = s3("GetPublicAccessBlock", name, "GET", fmt::format("/{}?publicAccessBlock=", name));
  call.expected = {Failure::not_found};
  const Reply block = TRY(work.send(call));
  items.push_back({.kind = std::string(bucket_kind),
                   .name = name,
                   .machine = "bootstrap",
                   .id = name,
                   .is_ours = has_no_tags || has_tag(work, tagging.xml.at({"TagSet"})),
                   .is_whole = !has_no_tags && !block.failure && block.xml.text_at({"BlockPublicPolicy"}) == "true"});
  return items;
}

Result<Item> create_bucket(const Work& work, const plan::Resource& resource) {
  const std::string region = TRY(work.account.api.region());
  Call call = s3("CreateBucket", resource.name, "PUT", "/" + resource.name, Effect::once);
  if (region != "us-east-1") {
    call.body = fmt::format(
        "<CreateBucketConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><LocationConstraint>{}</LocationConstraint>"
        "</CreateBucketConfiguration>",
        escape_xml(region));
    call.content_type = "application/xml";
  }
  const Result<Reply> made = work.send(call);
  const bool is_owned = !made.ok() && made.error().message().find("BucketAlreadyOwnedByYou") != std::string::npos;
  if (!made.ok() && !is_owned) return made.error();
  std::string tags;
  for (const auto& [key, value] : tags_of(work.account, resource.name)) {
    tags += fmt::format("<Tag><Key>{}</Key><Value>{}</Value></Tag>", escape_xml(key), escape_xml(value));
  }
  call = s3("PutBucketTagging", resource.name, "PUT", fmt::format("/{}?tagging=", resource.name), Effect::once);
  call.content_type = "application/xml";
  call.body = fmt::format("<Tagging><TagSet>{}</TagSet></Tagging>", tags);
  TRY(work.send(call));
  call = s3("PutPublicAccessBlock", resource.name, "PUT", fmt::format("/{}?publicAccessBlock=", resource.name), Effect::once);
  call.content_type = "application/xml";
  call.body =
      "<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls>"
      "<BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>true</RestrictPublicBuckets>"
      "</PublicAccessBlockConfiguration>";
  TRY(work.send(call));
  return item_of(resource, resource.name);
}

Result<> remove_bucket(const Work& work, const Item& item) {
  Call call = s3("DeleteBucket", item.name, "DELETE", "/" + item.name, Effect::once);
  call.waits_for.clear();
  call.expected = {Failure::not_found};
  TRY(work.send(call));
  return Ok{};
}

Result<Item> create_object(const Work& work, const plan::Resource& resource) {
  TRY(write_object(work, resource));
  return item_of(resource, resource.name);
}

Result<> remove_object(const Work& work, const Item& item) {
  Call call = s3("DeleteObject", item.name, "DELETE", "/" + item.name, Effect::once);
  call.waits_for.clear();
  call.expected = {Failure::not_found};
  TRY(work.send(call));
  return Ok{};
}

}  // namespace

Result<std::vector<Item>> list_objects(const Work& work) {
  const std::string bucket = bucket_name(work.account.infra_id);
  Call call = s3("ListObjectsV2", bucket, "GET", fmt::format("/{}?list-type=2", bucket));
  call.expected = {Failure::not_found, Failure::denied};
  const Reply reply = TRY(work.send(call));
  std::vector<Item> items;
  if (reply.failure) return items;
  for (const Xml& found : reply.xml.children) {
    const std::string& key = found.text_at({"Key"});
    if (found.name != "Contents" || !key.ends_with(".ign")) continue;
    const std::string name = fmt::format("{}/{}", bucket, key);
    items.push_back({.kind = std::string(object_kind),
                     .name = name,
                     .machine = "bootstrap",
                     .id = name,
                     .facts = {{"time", found.text_at({"LastModified"})}}});
  }
  return items;
}

Result<> write_object(const Work& work, const plan::Resource& resource) {
  Call call = s3("PutObject", resource.name, "PUT", "/" + resource.name, Effect::once);
  call.content_type = "application/vnd.coreos.ignition+json";
  call.body = TRY(work.account.config(text(resource, "machine"), ""));
  TRY(work.send(call));
  return Ok{};
}

std::span<const Kind> access_kinds() {
  static constexpr std::array kinds = {
      Kind{object_kind, list_objects, create_object, remove_object},
      Kind{bucket_kind, list_buckets, create_bucket, remove_bucket},
      Kind{instance_profile_kind, list_profiles, create_profile, remove_profile},
      Kind{role_kind, list_roles, create_role, remove_role},
  };
  return kinds;
}

}  // namespace slipway::provider::aws
