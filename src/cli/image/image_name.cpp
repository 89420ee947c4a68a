#include "cli/image/image_name.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::cli {

namespace {

constexpr std::string_view default_registry = "docker.io";
constexpr std::array archives = {std::string_view("oci:"), std::string_view("oci-archive:"), std::string_view("docker-archive:")};
constexpr std::array stores = {std::string_view("docker-daemon:"), std::string_view("containers-storage:"),
                               std::string_view("docker://")};

std::string_view transport_of(std::string_view text, const auto& transports) {
  const auto found = std::ranges::find_if(transports, [&](std::string_view each) { return text.starts_with(each); });
  return found == transports.end() ? "" : *found;
}

}  // namespace

Result<release::Reference> full_image_name(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('/'));
  const bool has_registry =
      first.size() < text.size() && (first == "localhost" || first.find_first_of(".:") != std::string_view::npos);
  std::string full = has_registry ? std::string(text) : fmt::format("{}/{}", default_registry, text);
  constexpr std::string_view old_prefix = "index.";
  if (full.starts_with(fmt::format("{}{}/", old_prefix, default_registry))) full.erase(0, old_prefix.size());
  const std::string registry = fmt::format("{}/", default_registry);
  if (full.starts_with(registry) && full.find('/', registry.size()) == std::string::npos)
    full.insert(registry.size(), "library/");
  return release::parse_reference(full);
}

std::string place_in_registry(const std::string& registry, const release::Reference& name) {
  release::Reference place = name;
  std::string host = name.registry;
  if (const std::size_t colon = host.rfind(':'); colon != std::string::npos && !host.ends_with(']')) host.replace(colon, 1, "__");
  place.registry = registry;
  place.repository = fmt::format("{}/{}", host, name.repository);
  return to_string(place);
}

Result<ImageSource> parse_image_source(std::string_view text) {
  if (const std::string_view transport = transport_of(text, archives); !transport.empty()) {
    const std::string_view rest = text.substr(transport.size());
    const std::size_t colon = rest.find(':');
    if (rest.substr(0, colon).empty()) return error(Code::invalid, "'{}' names no file", text);
    return ImageSource{std::string(text), colon == std::string_view::npos ? "" : std::string(rest.substr(colon + 1))};
  }
  if (const std::string_view transport = transport_of(text, stores); !transport.empty()) {
    return ImageSource{std::string(text), std::string(text.substr(transport.size()))};
  }
  const std::size_t slashes = text.find("://");
  if (text.empty() || slashes != std::string_view::npos || text.find(":/") != std::string_view::npos) {
    return error(Code::invalid,
                 "'{}' is not an image (use NAME, oci:DIR, oci-archive:FILE, docker-archive:FILE, docker-daemon:NAME, "
                 "containers-storage:NAME or docker://NAME)",
                 text);
  }
  return ImageSource{"", std::string(text)};
}

}  // namespace slipway::cli
