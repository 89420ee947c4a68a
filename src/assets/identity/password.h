// The password of kubeadmin, the first user.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// Four groups of five characters, none of which looks like another, and its hash of cost 10; without a text when the hash is the
// user's. errors: those of Random. time: 50 ms, which is what bcrypt is for
Result<KubeadminPassword> make_kubeadmin_password(const Randomness& random, const UserTls& user);

}  // namespace slipway::assets
