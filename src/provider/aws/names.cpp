// Names in Route 53.
#include "provider/aws/work.h"

#include "base/text.h"
#include "sys/wait_for.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::aws {

namespace {

constexpr std::string_view api = "/2013-04-01";
constexpr std::string_view name_space = "https://route53.amazonaws.com/doc/2013-04-01/";
constexpr Milliseconds change_limit(300'000);
constexpr sys::Pace change_pace{.first = Milliseconds(1000), .longest = Milliseconds(5000)};

Call call_of(std::string_view action, const std::string& object, std::string method, std::string target, std::string body = "") {
  Call call{.service = Service::route53, .action = std::string(action), .object = object, .method = std::move(method)};
  call.target = std::move(target);
  if (!body.empty()) {
    call.content_type = "application/xml";
    call.body = std::move(body);
  }
  return call;
}

std::string without_dot(std::string name) {
  if (name.ends_with('.')) name.pop_back();
  return name;
}

// "\052.apps" is "*.apps".
std::string readable(std::string name) {
  if (const std::size_t star = name.find("\\052"); star != std::string::npos) name.replace(star, 4, "*");
  return without_dot(std::move(name));
}

std::string id_in(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// ---- zones

struct Zone {
  std::string id;
  std::string name;
  std::string reference;  // that its creator chose
  bool is_private = false;
  bool is_elsewhere = false;  // in the account of Account::zone_api
};

Result<std::vector<Zone>> zones(const Work& work) {
  std::vector<Zone> all;
  const auto add_from = [&](Api& from, bool is_elsewhere) -> Result<> {
    for (const Xml& page :
         TRY(from.pages(work.context, call_of("ListHostedZones", "", "GET", fmt::format("{}/hostedzone", api))))) {
      for (const Xml& found : page.at({"HostedZones"}).children) {
        const Zone zone{id_in(found.text_at({"Id"})), without_dot(found.text_at({"Name"})), found.text_at({"CallerReference"}),
                        found.text_at({"Config", "PrivateZone"}) == "true", is_elsewhere};
        const bool is_known = std::ranges::find(all, zone.id, &Zone::id) != all.end();
        if (!is_known && (zone.is_private || !is_elsewhere)) all.push_back(zone);
      }
    }
    return Ok{};
  };
  TRY(add_from(work.account.api, false));
  if (work.account.zone_api) TRY(add_from(*work.account.zone_api, true));
  return all;
}

// The API of the account that a zone is in.
Result<Api*> api_of_zone(const Work& work, const std::string& zone) {
  if (!work.account.zone_api) return &work.account.api;
  const std::optional<Item> found = TRY(work.account.inventory.known(work.context, any_zone_kind, zone));
  return found && is_true(found->facts, {"elsewhere"}) ? work.account.zone_api : &work.account.api;
}

std::string reference_of(const Account& account) { return account.infra_id + "/"; }

// All zones of the account, by ID.
Result<std::vector<Item>> list_all_zones(const Work& work) {
  std::vector<Item> items;
  for (const Zone& zone : TRY(zones(work))) {
    items.push_back({.kind = std::string(any_zone_kind),
                     .name = zone.id,
                     .id = zone.id,
                     .facts = {{"name", zone.name},
                               {"reference", zone.reference},
                               {"private", zone.is_private},
                               {"elsewhere", zone.is_elsewhere}}});
  }
  return items;
}

// A zone is found by the reference of its creation, which begins with the infraID.
Result<std::vector<Item>> list_zones(const Work& work) {
  std::vector<Item> items;
  for (const Zone& zone : TRY(zones(work))) {
    if (!zone.reference.starts_with(reference_of(work.account))) continue;
    Item item{.kind = std::string(hosted_zone_kind), .name = zone.name, .id = zone.id, .is_whole = false};
    Call call = call_of("ListTagsForResource", zone.name, "GET", fmt::format("{}/tags/hostedzone/{}", api, zone.id));
    call.expected = {Failure::not_found};
    const Reply reply = TRY(work.send(call));
    item.is_whole = reply.xml.at({"ResourceTagSet", "Tags"}).has("Tag");
    items.push_back(std::move(item));
  }
  return items;
}

Result<Item> create_zone(const Work& work, const plan::Resource& resource) {
  const std::string vpc = TRY(work.id_of(text(resource, "vpc")));
  const std::string region = TRY(work.account.api.region());
  // A reference can be used once only, also after the zone was deleted.
  const std::string reference = reference_of(work.account) + to_basic_time(work.context.clock.now());
  Call call = call_of(
      "CreateHostedZone", resource.name, "POST", fmt::format("{}/hostedzone", api),
      fmt::format("<CreateHostedZoneRequest xmlns=\"{}\"><Name>{}</Name><VPC><VPCRegion>{}</VPCRegion><VPCId>{}</VPCId>"
                  "</VPC><CallerReference>{}</CallerReference><HostedZoneConfig><Comment>cluster {}</Comment>"
                  "<PrivateZone>true</PrivateZone></HostedZoneConfig></CreateHostedZoneRequest>",
                  name_space, escape_xml(resource.name), escape_xml(region), escape_xml(vpc), reference, work.account.infra_id));
  call.effect = Effect::twice;
  const Reply reply = TRY(work.send(call));
  Item item = item_of(resource, id_in(reply.xml.text_at({"HostedZone", "Id"})));
  std::string tags;
  for (const auto& [key, value] : tags_of(work.account, work.account.infra_id + "-int")) {
    tags += fmt::format("<Tag><Key>{}</Key><Value>{}</Value></Tag>", escape_xml(key), escape_xml(value));
  }
  call = call_of("ChangeTagsForResource", resource.name, "POST", fmt::format("{}/tags/hostedzone/{}", api, item.id),
                 fmt::format("<ChangeTagsForResourceRequest xmlns=\"{}\"><AddTags>{}</AddTags></ChangeTagsForResourceRequest>",
                             name_space, tags));
  call.effect = Effect::once;
  call.waits_for = until_visible;
  TRY(work.send(call));
  return item;
}

// ---- records

// An alias, which Route 53 answers with the addresses of a load balancer.
struct Alias {
  std::string name;
  std::string zone;    // of the load balancer
  std::string target;  // its name
};

Result<std::vector<Xml>> record_sets(const Work& work, const std::string& zone) {
  std::vector<Xml> all;
  std::string query;
  Api* const owner = TRY(api_of_zone(work, zone));
  for (;;) {
    Call call = call_of("ListResourceRecordSets", zone, "GET", fmt::format("{}/hostedzone/{}/rrset{}", api, zone, query));
    call.expected = {Failure::not_found};
    const Reply reply = TRY(owner->send(work.context, call));
    for (const Xml& found : reply.xml.at({"ResourceRecordSets"}).children) all.push_back(found);
    if (reply.xml.text_at({"IsTruncated"}) != "true") return all;
    query = fmt::format("?name={}&type={}", net::percent_encode(reply.xml.text_at({"NextRecordName"})),
                        net::percent_encode(reply.xml.text_at({"NextRecordType"})));
    const std::string& identifier = reply.xml.text_at({"NextRecordIdentifier"});
    if (!identifier.empty()) query += "&identifier=" + net::percent_encode(identifier);
  }
}

std::string alias_change(std::string_view action, const Alias& alias) {
  return fmt::format(
      "<Change><Action>{}</Action><ResourceRecordSet><Name>{}</Name><Type>A</Type><AliasTarget><HostedZoneId>{}</HostedZoneId>"
      "<DNSName>{}</DNSName><EvaluateTargetHealth>false</EvaluateTargetHealth></AliasTarget></ResourceRecordSet></Change>",
      action, escape_xml(alias.name), escape_xml(alias.zone), escape_xml(alias.target));
}

// Waits until all servers of Route 53 have the change if `waits`.
Result<> change_records(const Work& work, const std::string& zone, const std::string& object, const std::string& changes,
                        bool waits, std::vector<Failure> waits_for) {
  Call call = call_of("ChangeResourceRecordSets", object, "POST", fmt::format("{}/hostedzone/{}/rrset", api, zone),
                      fmt::format("<ChangeResourceRecordSetsRequest xmlns=\"{}\"><ChangeBatch><Changes>{}</Changes></ChangeBatch>"
                                  "</ChangeResourceRecordSetsRequest>",
                                  name_space, changes));
  call.effect = Effect::once;
  call.waits_for = std::move(waits_for);
  Api* const owner = TRY(api_of_zone(work, zone));
  const Reply reply = TRY(owner->send(work.context, call));
  const std::string id = id_in(reply.xml.text_at({"ChangeInfo", "Id"}));
  const bool is_done = id.empty() || reply.xml.text_at({"ChangeInfo", "Status"}) == "INSYNC";
  if (is_done || !waits) return Ok{};
  // A machine that asks earlier remembers for minutes that there is no such name.
  return sys::wait_for(
      work.context, fmt::format("Route 53 to publish {}", object), change_limit,
      [&]() -> Result<sys::Observation> {
        const Reply asked =
            TRY(owner->send(work.context, call_of("GetChange", object, "GET", fmt::format("{}/change/{}", api, id))));
        const std::string& status = asked.xml.text_at({"ChangeInfo", "Status"});
        return status == "INSYNC" ? sys::Observation::done() : sys::Observation::not_yet("is {}", status);
      },
      nullptr, change_pace);
}

// Everything but what each zone has.
Result<> empty_zone(const Work& work, const Item& zone) {
  for (const Xml& set : TRY(record_sets(work, zone.id))) {
    const std::string& type = set.text_at({"Type"});
    if (type == "SOA" || type == "NS") continue;
    if (!set.has("AliasTarget")) {
      std::string values;
      for (const Xml& each : set.at({"ResourceRecords"}).children) {
        values += fmt::format("<ResourceRecord><Value>{}</Value></ResourceRecord>", escape_xml(each.text_at({"Value"})));
      }
      TRY(change_records(
          work, zone.id, readable(set.text_at({"Name"})),
          fmt::format("<Change><Action>DELETE</Action><ResourceRecordSet><Name>{}</Name><Type>{}</Type><TTL>{}</TTL>"
                      "<ResourceRecords>{}</ResourceRecords></ResourceRecordSet></Change>",
                      escape_xml(set.text_at({"Name"})), type, escape_xml(set.text_at({"TTL"})), values),
          false, {}));
      continue;
    }
    const Alias alias{set.text_at({"Name"}), set.text_at({"AliasTarget", "HostedZoneId"}),
                      set.text_at({"AliasTarget", "DNSName"})};
    TRY(change_records(work, zone.id, readable(alias.name), alias_change("DELETE", alias), false, {}));
  }
  return Ok{};
}

Result<> remove_zone(const Work& work, const Item& item) {
  TRY(empty_zone(work, item));
  Call call = call_of("DeleteHostedZone", item.name, "DELETE", fmt::format("{}/hostedzone/{}", api, item.id));
  call.effect = Effect::once;
  call.expected = {Failure::not_found};
  TRY(work.send(call));
  return Ok{};
}

// The domain of the cluster, also if only its private zone tells it.
Result<std::string> domain_of(const Work& work) {
  if (!work.account.domain.empty()) return work.account.domain;
  for (const Item& zone : TRY(work.all(any_zone_kind))) {
    if (zone.fact("reference").starts_with(reference_of(work.account))) return zone.fact("name");
  }
  return std::string();
}

// The zones that may have records of the cluster.
Result<std::vector<Item>> zones_of_records(const Work& work) {
  const std::string domain = TRY(domain_of(work));
  std::vector<Item> items = TRY(work.all(any_zone_kind));
  std::erase_if(items, [&](const Item& zone) {
    const std::string name = zone.fact("name");
    return !domain.empty() && name != domain && !domain.ends_with("." + name);
  });
  return items;
}

// The name of the load balancer that an alias belongs to: "demo-x7k2p-ext" for "dualstack.demo-x7k2p-ext-1a2b.elb...".
std::string balancer_of(std::string target) {
  constexpr std::string_view prefix = "dualstack.";
  if (target.starts_with(prefix)) target.erase(0, prefix.size());
  const std::string label = target.substr(0, target.find('.'));
  return label.substr(0, label.rfind('-'));
}

Result<std::vector<Item>> list_records(const Work& work) {
  const std::string domain = TRY(domain_of(work));
  const std::vector<std::string> own = load_balancer_names(work.account.infra_id);
  std::vector<std::string> lower;
  for (const std::string& name : own) lower.push_back(to_lower(name));
  std::vector<Item> items;
  for (const Item& zone : TRY(zones_of_records(work))) {
    for (const Xml& set : TRY(record_sets(work, zone.id))) {
      const std::string name = readable(set.text_at({"Name"}));
      const std::string target = to_lower(set.text_at({"AliasTarget", "DNSName"}));
      const bool is_ours = std::ranges::find(lower, balancer_of(target)) != lower.end();
      const bool has_name = name == "api." + domain || name == "api-int." + domain || name == "*.apps." + domain;
      const std::string& type = set.text_at({"Type"});
      if (!is_ours && !(has_name && (type == "A" || type == "AAAA" || type == "CNAME"))) continue;
      items.push_back({.kind = std::string(record_kind),
                       .name = fmt::format("{}/{}", is_true(zone.facts, {"private"}) ? "private" : "public", name),
                       .id = zone.id,
                       .is_ours = is_ours,
                       .facts = {{"record", set.text_at({"Name"})},
                                 {"target", set.text_at({"AliasTarget", "DNSName"})},
                                 {"targetZone", set.text_at({"AliasTarget", "HostedZoneId"})}}});
    }
  }
  return items;
}

}  // namespace

// The one with the longest name.
Result<std::string> find_public_zone(const Work& work) {
  std::string id;
  std::size_t longest = 0;
  for (const Item& zone : TRY(zones_of_records(work))) {
    if (is_true(zone.facts, {"private"}) || zone.fact("name").size() <= longest) continue;
    longest = zone.fact("name").size();
    id = zone.id;
  }
  if (!id.empty()) return id;
  return error(Code::not_found, "Route 53 has no public zone for {} (create one, or set publish: Internal)", work.account.domain);
}

namespace {

Result<Item> create_record(const Work& work, const plan::Resource& resource) {
  const std::string given = text(resource, "zone");
  const std::string zone = given.empty() ? TRY(find_public_zone(work)) : TRY(work.id_of(given));
  const std::string key = text(resource, "balancer");
  const std::optional<Item> balancer =
      TRY(work.account.inventory.known(work.context, load_balancer_kind, key.substr(key.find('/') + 1)));
  if (!balancer) return error(Code::not_found, "{}: does not exist", key);
  const std::string name = resource.name.substr(resource.name.find('/') + 1);
  TRY(change_records(work, zone, name, alias_change("UPSERT", {name, balancer->fact("zone"), balancer->fact("dns")}), true,
                     until_visible));
  Item item = item_of(resource, zone);
  item.facts = {{"record", name}, {"target", balancer->fact("dns")}, {"targetZone", balancer->fact("zone")}};
  return item;
}

Result<> remove_record(const Work& work, const Item& item) {
  const Result<> removed =
      change_records(work, item.id, item.name,
                     alias_change("DELETE", {item.fact("record"), item.fact("targetZone"), item.fact("target")}), false, {});
  // Route 53 has no code of its own for a record that does not exist.
  const bool is_gone = !removed.ok() && removed.error().message().find("not found") != std::string::npos;
  return is_gone ? Ok{} : removed;
}

}  // namespace

std::span<const Kind> name_kinds() {
  static constexpr std::array kinds = {
      Kind{record_kind, list_records, create_record, remove_record},
      Kind{hosted_zone_kind, list_zones, create_zone, remove_zone},
      Kind{any_zone_kind, list_all_zones, nullptr, nullptr},
  };
  return kinds;
}

}  // namespace slipway::provider::aws
