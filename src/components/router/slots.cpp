#include "components/router/slots.h"

#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

namespace slipway::components::router {

namespace {

// Changes the slots of one service and adds the commands. Returns false when there are not enough slots.
bool change_service(Slots& slots, const std::vector<Server>& servers, std::string_view backend, std::size_t service,
                    std::vector<std::string>& commands) {
  const auto path = [&](std::size_t slot) { return fmt::format("{}/{}", backend, slot_name(service, slot)); };
  std::vector<const Server*> missing;
  for (const Server& server : servers) missing.push_back(&server);
  std::vector<std::size_t> removed;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i]) continue;
    const auto kept = std::ranges::find_if(missing, [&](const Server* it) { return it->endpoint == slots[i]->endpoint; });
    if (kept == missing.end()) {
      removed.push_back(i);
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
  // Adds new servers before it removes old ones, so that the service always has a server.
  fill_free();
  for (const std::size_t i : removed) {
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
    std::vector<Slots>& backend_slots = layout[backend];
    for (const std::vector<Server>& service : services) {
      Slots& slots = backend_slots.emplace_back(service.begin(), service.end());
      slots.resize(std::max<std::size_t>(2, std::bit_ceil(service.size() + 1)));
    }
  }
  return layout;
}

SlotChange change_slots(const Layout& running, const Servers& servers) {
  SlotChange change{running, {}, running.size() == servers.size()};
  for (const auto& [backend, services] : servers) {
    const auto backend_slots = change.layout.find(backend);
    if (backend_slots == change.layout.end() || backend_slots->second.size() != services.size()) {
      change.is_all = false;
      continue;
    }
    for (std::size_t i = 0; i < services.size(); ++i) {
      if (!change_service(backend_slots->second[i], services[i], backend, i, change.commands)) change.is_all = false;
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
