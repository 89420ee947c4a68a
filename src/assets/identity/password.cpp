#include "assets/identity/password.h"

#include "assets/identity/stream.h"

namespace slipway::assets {

namespace {

constexpr std::string_view alphabet = "abcdefghijkmnopqrstuvwxyzABCDEFGHIJKLMNPQRSTUVWXYZ23456789";
constexpr int hash_cost = 10;

}  // namespace

Result<KubeadminPassword> make_kubeadmin_password(const Randomness& random, const UserTls& user) {
  if (user.password_hash) return KubeadminPassword{Secret(), *user.password_hash};
  Stream stream(random, "kubeadmin password");
  std::string text = TRY(sys::random_text(stream, 23, alphabet));
  for (const std::size_t dash : {5, 11, 17}) text[dash] = '-';
  Secret plain(std::move(text));
  const std::string salt = TRY(stream.bytes(16));
  std::string hash = TRY(net::bcrypt(plain, hash_cost, salt));
  return KubeadminPassword{std::move(plain), std::move(hash)};
}

}  // namespace slipway::assets
