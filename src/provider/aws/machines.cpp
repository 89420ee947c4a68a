// Instances.
#include "base/digest.h"
#include "provider/aws/work.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::aws {

namespace {

constexpr Seconds pointer_lifetime(3600);
constexpr Milliseconds rewritten_after(1'800'000);  // half of the lifetime

// Tags of a machine, besides those of all resources.
constexpr std::string_view machine_tag = "slipway/machine";
constexpr std::string_view role_tag = "slipway/role";
constexpr std::string_view release_tag = "slipway/release";
constexpr std::string_view version_tag = "slipway/version";

Result<std::vector<Item>> list_with_states(const Work& work, std::string_view kind,
                                           std::initializer_list<std::string_view> states) {
  Parameters parameters = cluster_filter(work.account);
  parameters.emplace_back("Filter.2.Name", "instance-state-name");
  int i = 0;
  for (const std::string_view state : states) parameters.emplace_back(fmt::format("Filter.2.Value.{}", ++i), state);
  std::vector<Item> items;
  for (const Xml& page : TRY(work.pages({.action = "DescribeInstances", .parameters = std::move(parameters)}))) {
    for (const Xml& reservation : page.at({"reservationSet"}).children) {
      for (const Xml& found : reservation.at({"instancesSet"}).children) {
        if (!is_tagged(work.account, found)) continue;
        items.push_back({.kind = std::string(kind),
                         .name = tag_of(found, "Name"),
                         .machine = tag_of(found, machine_tag),
                         .id = found.text_at({"instanceId"}),
                         .facts = {{"state", found.text_at({"instanceState", "name"})},
                                   {"reason", found.text_at({"stateReason", "message"})},
                                   {"address", found.text_at({"privateIpAddress"})},
                                   {"role", tag_of(found, role_tag)},
                                   {"release", tag_of(found, release_tag)},
                                   {"version", tag_of(found, version_tag)},
                                   {"image", found.text_at({"imageId"})},
                                   {"type", found.text_at({"instanceType"})},
                                   {"created", found.text_at({"launchTime"})},
                                   {"expires", tag_of(found, expires_tag)}}});
      }
    }
  }
  return items;
}

Result<std::vector<Item>> list_machines(const Work& work) {
  return list_with_states(work, machine_kind, {"pending", "running", "stopping", "stopped"});
}

// Machines that were terminated: EC2 answers a request with the token of one of them with that one. By ID.
Result<std::vector<Item>> list_gone_machines(const Work& work) {
  std::vector<Item> items = TRY(list_with_states(work, gone_machine_kind, {"shutting-down", "terminated"}));
  for (Item& item : items) item.name = fmt::format("{}/{}", item.name, item.id);
  return items;
}

// The name of the disk that an image boots from.
Result<std::string> root_device(const Work& work, const std::string& image) {
  const Reply reply = TRY(work.send({.action = "DescribeImages", .object = image, .parameters = {{"ImageId.1", image}}}));
  const std::string& device = reply.xml.text_at({"imagesSet", "item", "rootDeviceName"});
  if (!device.empty()) return device;
  return error(Code::not_found, "image {}: not found in this region (set amiID to an image of the region)", image);
}

// When the config of a machine was written. It is written again if a URL for it would end too soon.
Result<WallTime> time_of_object(const Work& work, const plan::Resource& resource) {
  const plan::Resource object{.kind = std::string(object_kind),
                              .name = config_object(work.account.infra_id, resource.machine),
                              .spec = {{"machine", resource.machine}}};
  for (const bool is_first : {true, false}) {
    const std::vector<Item> objects = TRY(list_objects(work));
    const auto found = std::ranges::find(objects, object.name, &Item::name);
    const Result<WallTime> time = found != objects.end() ? parse_rfc3339(found->fact("time")) : error(Code::not_found, "none");
    if (time.ok() && (!is_first || work.context.clock.now() - time.value() < rewritten_after)) return time.value();
    if (is_first) TRY(write_object(work, object));
  }
  return error(Code::internal, "object {}: S3 does not list it", object.name);
}

// The same for the same machine whenever it is called, so that EC2 recognizes a repeated call: the URL in a pointer depends on
// the time at which the object was written.
Result<std::string> user_data(const Work& work, const plan::Resource& resource) {
  std::string url;
  if (is_true(resource.spec, {"pointer"})) {
    const WallTime time = TRY(time_of_object(work, resource));
    url = TRY(work.account.api.presigned("/" + config_object(work.account.infra_id, resource.machine), time, pointer_lifetime));
  }
  std::string config = TRY(work.account.config(resource.machine, url));
  if (config.size() <= largest_user_data) return config;
  return error(Code::invalid, "the Ignition config has {} bytes, but user data has at most {}", config.size(), largest_user_data);
}

void add_volume(Parameters& parameters, const plan::Resource& resource, const std::string& device) {
  const Json* volume = find(resource.spec, {"volume"});
  if (!volume) return;
  const std::string prefix = "BlockDeviceMapping.1";
  parameters.emplace_back(prefix + ".DeviceName", device);
  const auto add = [&](std::string_view name, std::string value) {
    if (!value.empty() && value != "0") parameters.emplace_back(fmt::format("{}.Ebs.{}", prefix, name), std::move(value));
  };
  add("VolumeSize", std::to_string(integer_of(*volume, {"size"})));
  add("VolumeType", text_of(*volume, {"type"}));
  add("Iops", std::to_string(integer_of(*volume, {"iops"})));
  add("KmsKeyId", text_of(*volume, {"kmsKeyARN"}));
  add("Encrypted", "true");
  add("DeleteOnTermination", "true");
}

Result<Item> create_machine(const Work& work, const plan::Resource& resource) {
  const std::string config = TRY(user_data(work, resource));
  const std::string image = TRY(work.id_of(text(resource, "image")));
  const std::string device = TRY(root_device(work, image));
  const std::string interface = "NetworkInterface.1";
  Parameters parameters = {{"ImageId", image},
                           {"InstanceType", text(resource, "type")},
                           {"MinCount", "1"},
                           {"MaxCount", "1"},
                           {"UserData", base64_encode(config)},
                           {interface + ".DeviceIndex", "0"},
                           {interface + ".AssociatePublicIpAddress", "false"},
                           {interface + ".DeleteOnTermination", "true"},
                           {"MetadataOptions.HttpTokens", is_true(resource.spec, {"requiresToken"}) ? "required" : "optional"},
                           {"MetadataOptions.HttpPutResponseHopLimit", "1"}};  // pods do not get the machine's credentials
  parameters.emplace_back(interface + ".SubnetId", TRY(work.id_of(text(resource, "subnet"))));
  int i = 0;
  for (const std::string& group : texts_of(resource.spec, {"groups"})) {
    parameters.emplace_back(fmt::format("{}.SecurityGroupId.{}", interface, ++i), TRY(work.id_of(group)));
  }
  if (const std::string profile = text(resource, "profile"); !profile.empty()) {
    const std::string name = profile.substr(profile.find_first_of(":/") + 1);
    parameters.emplace_back(name.starts_with("arn:") ? "IamInstanceProfile.Arn" : "IamInstanceProfile.Name", name);
  }
  add_volume(parameters, resource, device);
  Parameters tags = tags_of(work.account, resource.name);
  add_ec2_tags(parameters, 2, "volume", tags);
  tags.emplace_back(machine_tag, resource.machine);
  for (const auto& [tag, member] : {std::pair{role_tag, "role"}, {release_tag, "release"}, {version_tag, "version"}}) {
    tags.emplace_back(tag, text(resource, member));
  }
  add_ec2_tags(parameters, 1, "instance", tags);
  std::string identity = to_form(parameters);
  for (const Item& gone : TRY(work.all(gone_machine_kind))) {
    if (gone.name.starts_with(resource.name + "/")) identity += gone.id;
  }
  parameters.emplace_back("ClientToken", sha256_hex(identity));
  const Reply reply = TRY(work.send({.action = "RunInstances",
                                     .object = resource.name,
                                     .effect = Effect::twice,
                                     .parameters = std::move(parameters),
                                     .waits_for = until_visible}));
  const Xml& made = reply.xml.at({"instancesSet", "item"});
  Item item = item_of(resource, made.text_at({"instanceId"}));
  item.facts = {{"state", "pending"}, {"address", made.text_at({"privateIpAddress"})}};
  if (item.id.empty()) return error(Code::internal, "EC2 RunInstances {}: the answer has no ID", resource.name);
  return item;
}

Result<> remove_machine(const Work& work, const Item& item) {
  TRY(work.send({.action = "TerminateInstances",
                 .object = item.name,
                 .effect = Effect::once,
                 .parameters = {{"InstanceId.1", item.id}},
                 .expected = {Failure::not_found}}));
  work.account.inventory.add(
      work.context, {.kind = std::string(gone_machine_kind), .name = fmt::format("{}/{}", item.name, item.id), .id = item.id});
  return Ok{};
}

}  // namespace

std::span<const Kind> machine_kinds() {
  static constexpr std::array kinds = {
      Kind{machine_kind, list_machines, create_machine, remove_machine},
      Kind{gone_machine_kind, list_gone_machines, nullptr, nullptr},
  };
  return kinds;
}

}  // namespace slipway::provider::aws
