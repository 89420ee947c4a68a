#include "assets/identity/identity.h"

#include "assets/identity/stream.h"
#include "base/digest.h"

namespace slipway::assets {

namespace {

constexpr std::string_view safe_alphabet = "bcdfghjklmnpqrstvwxz2456789";  // of Kubernetes; without vowels it spells no words
constexpr std::size_t tail_length = 5;

std::string stem_of(std::string_view name) {
  std::string stem;
  for (const char c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (plain) {
      stem += c;
    } else if (!stem.ends_with('-')) {
      stem += '-';
    }
  }
  return stem;
}

}  // namespace

bool is_infra_id_cut(const config::InstallConfig& config) { return stem_of(config.name).size() > longest_stem; }

Result<ClusterId> make_cluster_id(const config::InstallConfig& config, const Randomness& random) {
  std::string stem = stem_of(config.name);
  stem.resize(std::min(stem.size(), longest_stem));
  while (stem.ends_with('-')) stem.pop_back();
  Stream stream(random, "cluster id");
  const std::string tail = TRY(sys::random_text(stream, tail_length, safe_alphabet));
  const std::string uuid = TRY(sys::random_uuid(stream));
  return ClusterId{stem + "-" + tail, uuid};
}

bool is_infra_id(std::string_view text) {
  if (text.size() < tail_length + 2 || text[text.size() - tail_length - 1] != '-') return false;
  return text.substr(text.size() - tail_length).find_first_not_of(safe_alphabet) == std::string_view::npos;
}

Result<ServerToken> make_server_token(const Randomness& random) {
  Stream stream(random, "machine-config-server token");
  Stream of_workers(random, "machine-config-server token of workers");
  return ServerToken{Secret(TRY(sys::random_hex(stream, 64))), Secret(TRY(sys::random_hex(of_workers, 64)))};
}

std::string loopback_address(const ClusterId& id) {
  const std::string digest = sha256_hex(id.infra_id);
  auto byte = [&](std::size_t i) { return std::stoi(digest.substr(2 * i, 2), nullptr, 16); };
  // Not 127.0.*, where other programs listen, and no address that ends in 0 or 255 like a network or broadcast address.
  return fmt::format("127.{}.{}.{}", 1 + byte(0) % 254, byte(1), 1 + byte(2) % 254);
}

}  // namespace slipway::assets
