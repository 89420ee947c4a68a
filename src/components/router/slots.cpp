#include "components/router/slots.h"

#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

namespace slipway::components::router {

namespace {

// Changes one service's places and adds the commands. False when there are too few for all.
bool change_service(Slots& slots, const std::vector<Server>& servers, std::string_view backend, std::size_t service,
                    std::vector<std::string>& commands) {
  const auto path = [&](std::size_t slot) { return fmt::format("{}/{}", backend, slot_name(service, slot)); };
  std::vector<const Server*> missing;
  for (const Server& server : servers) missing.push_back(&server);
  std::vector<std::size_t> leaving;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i]) continue;
    const auto kept = std::ranges::find_if(missing, [&](const Server* it) { return it->endpoint == slots[i]->endpoint; });
    if (kept == missing.end()) {
      leaving.push_back(i);
      continue;
    }
    if ((*kept)->weight != slots[i]->weight) {
      commands.push_back(fmt::format("set server {} weight {}", path(i), (*kept)->weight));
      slots[i]->weight = (*kept)->weight;
    }
    missing.erase(kept);
  }
  const auto fill_free = [&] {
    for (std::size_t i = 0; i < slots.size() && !missing.empty(); ++i) {
      if (slots[i]) continue;
      const Server& server = *missing.front();
      missing.erase(missing.begin());
      commands.push_back(fmt::format("set server {} addr {} port {}", path(i), server.endpoint.address, server.endpoint.port));
      commands.push_back(fmt::format("set server {} weight {}", path(i), server.weight));
      commands.push_back(fmt::format("set server {} state ready", path(i)));
      slots[i] = server;
    }
  };
  // Who comes first, so that there is no moment without anybody.
  fill_free();
  for (const std::size_t i : leaving) {
    commands.push_back(fmt::format("set server {} state maint", path(i)));
    slots[i].reset();
  }
  fill_free();
  return missing.empty();
}

}  // namespace

std::string slot_name(std::size_t service, std::size_t slot) { return fmt::format("b{}-s{}", service, slot); }

Layout first_layout(const Servers& servers) {
  Layout layout;
  for (const auto& [backend, services] : servers) {
    std::vector<Slots>& places = layout[backend];
    for (const std::vector<Server>& service : services) {
      Slots& slots = places.emplace_back(service.begin(), service.end());
      slots.resize(std::max<std::size_t>(2, std::bit_ceil(service.size() + 1)));
    }
  }
  return layout;
}

SlotChange change_slots(const Layout& running, const Servers& servers) {
  SlotChange change{running, {}, running.size() == servers.size()};
  for (const auto& [backend, services] : servers) {
    const auto places = change.layout.find(backend);
    if (places == change.layout.end() || places->second.size() != services.size()) {
      change.is_all = false;
      continue;
    }
    for (std::size_t i = 0; i < services.size(); ++i) {
      if (!change_service(places->second[i], services[i], backend, i, change.commands)) change.is_all = false;
    }
  }
  return change;
}

bool is_done(std::string_view answer) {
  return std::ranges::all_of(split(answer, '\n'), [](std::string_view line) {
    line = trim(line);
    return line.empty() || line.find(" changed from ") != std::string_view::npos || line.starts_with("no need to change");
  });
}

}  // namespace slipway::components::router
