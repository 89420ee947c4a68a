// The password of kubeadmin, the first user.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// A password of 23 characters in four groups, without characters that look alike, and its bcrypt hash of cost 10. If the user
// provides a hash, the password is empty. errors: those of Random. time: 50 ms for bcrypt
Result<KubeadminPassword> make_kubeadmin_password(const Randomness& random, const UserTls& user);

}  // namespace slipway::assets
