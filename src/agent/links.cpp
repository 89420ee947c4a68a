#include "agent/links.h"

#include "agent/connectivity.h"
#include "base/guarded.h"
#include "sys/task_group.h"

#include <algorithm>

namespace slipway::agent {

namespace {

const assist::Interface* find_interface(const std::vector<assist::Interface>& interfaces, const std::string& name) {
  const auto found = std::find_if(interfaces.begin(), interfaces.end(), [&](const auto& each) { return each.name == name; });
  return found == interfaces.end() ? nullptr : &*found;
}

Result<LinkAnswers> ask_all(const sys::Context& context, const std::vector<net::NeighborQuestions>& questions) {
  Guarded<LinkAnswers> answers;
  TRY(sys::for_each_at_once(context, questions.size(), static_cast<int>(questions.size()),
                            [&](const sys::Context& own, std::size_t i) -> Result<> {
                              Result<net::MacsByAddress> found = net::ask_neighbors(own, questions[i]);
                              if (!found.ok() && found.error().code() == Code::unavailable) return Ok{};
                              net::MacsByAddress macs = TRY(std::move(found));
                              answers.with_lock([&](LinkAnswers& all) { all.by_interface[questions[i].interface].merge(macs); });
                              return Ok{};
                            }));
  return answers.with_lock([](LinkAnswers& all) { return std::move(all); });
}

}  // namespace

std::set<std::string> LinkAnswers::macs_of(const std::string& interface, const net::IpAddress& address) const {
  const auto answers = by_interface.find(interface);
  if (answers == by_interface.end()) return {};
  const auto found = answers->second.find(address);
  return found == answers->second.end() ? std::set<std::string>() : found->second;
}

const assist::Interface* interface_to(const std::vector<assist::Interface>& interfaces, const net::IpAddress& address) {
  for (const assist::Interface& interface : interfaces) {
    const bool contains = std::any_of(interface.addresses.begin(), interface.addresses.end(),
                                      [&](const net::Cidr& each) { return each.contains(address); });
    if (contains) return &interface;
  }
  return nullptr;
}

Result<net::NeighborQuestions> questions_for(const assist::Interface& interface, std::vector<net::IpAddress> targets) {
  net::NeighborQuestions questions{.interface = interface.name, .targets = std::move(targets)};
  questions.mac = TRY(net::parse_mac(interface.mac_address).context("interface " + interface.name));
  for (const net::Cidr& address : interface.addresses) {
    std::optional<net::IpAddress>& own = address.is_v4() ? questions.own_v4 : questions.own_v6;
    if (!own) own = address.address;
  }
  return questions;
}

Result<LinkAnswers> ask_links(const sys::Context& context, const std::vector<assist::Interface>& interfaces,
                              const std::map<std::string, std::vector<net::IpAddress>>& targets) {
  std::vector<net::NeighborQuestions> questions;
  for (const auto& [name, addresses] : targets) {
    const assist::Interface* interface = find_interface(interfaces, name);
    if (interface) questions.push_back(TRY(questions_for(*interface, addresses)));
  }
  return ask_all(context, questions);
}

Result<std::vector<Collision>> find_own_collisions(const sys::Context& context,
                                                   const std::vector<assist::Interface>& interfaces) {
  std::vector<net::NeighborQuestions> questions;
  for (const assist::Interface& interface : interfaces) {
    std::vector<net::IpAddress> own;
    for (const net::Cidr& address : interface.addresses) own.push_back(address.address);
    if (own.empty()) continue;
    net::NeighborQuestions each = TRY(questions_for(interface, std::move(own)));
    // A question with an own address as sender would make other machines send to this host.
    each.own_v4.reset();
    each.own_v6.reset();
    questions.push_back(std::move(each));
  }
  const LinkAnswers answers = TRY(ask_all(context, questions));
  std::vector<Collision> collisions;
  for (const auto& [name, macs_by_address] : answers.by_interface) {
    for (const auto& [address, macs] : macs_by_address) {
      // Another interface of this host on the same link may answer for the address.
      std::set<std::string> all = macs;
      for (const assist::Interface& interface : interfaces) all.erase(interface.mac_address);
      if (all.empty()) continue;
      all.insert(find_interface(interfaces, name)->mac_address);
      collisions.push_back({address, std::move(all)});
    }
  }
  return collisions;
}

}  // namespace slipway::agent
