#include "agent/identity.h"

#include "base/digest.h"
#include "net/x509.h"
#include "support/recorded_tree.h"

#include <gtest/gtest.h>

namespace slipway::agent {
namespace {

using testing_support::RecordedTree;

TEST(Identity, IsMadeOnceAndKept) {
  RecordedTree recorded("/sys/class/dmi/id/board_serial: A1");
  const Identity first = load_identity(recorded.files, "/run/agent", recorded.tree(), "").value();
  EXPECT_EQ(recorded.files.info("/run/agent/key.pem").value()->mode, 0600u);
  recorded.put("/sys/class/dmi/id/board_serial: A2");  // hardware that changes while the host runs
  const Identity second = load_identity(recorded.files, "/run/agent", recorded.tree(), "").value();
  EXPECT_EQ(second.host_id, first.host_id);
  EXPECT_EQ(second.key, first.key);
  EXPECT_EQ(second.public_key, first.public_key);
  EXPECT_EQ(load_identity(recorded.files, "/run/agent", recorded.tree(), "forced").value().host_id, "forced");
}

TEST(Identity, OfATwinHasItsKeyInTheID) {
  RecordedTree recorded("/sys/class/dmi/id/board_serial: A1");
  const Identity one = load_identity(recorded.files, "/one", recorded.tree(), "").value();
  const Identity twin = load_identity(recorded.files, "/twin", recorded.tree(), "").value();
  EXPECT_EQ(one.host_id, twin.host_id);
  const Identity own = with_own_id(recorded.files, "/twin", recorded.tree(), twin).value();
  EXPECT_NE(own.host_id, one.host_id);
  EXPECT_EQ(load_identity(recorded.files, "/twin", recorded.tree(), "").value().host_id, own.host_id);
}

TEST(Identity, ABrokenKeyIsAnError) {
  RecordedTree recorded("");
  ASSERT_TRUE(recorded.files.write("/run/agent/key.pem", "broken", 0600).ok());
  EXPECT_EQ(load_identity(recorded.files, "/run/agent", recorded.tree(), "").error().code(), Code::invalid);
}

TEST(SignRequest, CoversMethodTargetAndBody) {
  const Secret key = net::make_key().value();
  const std::string signature = base64_decode(sign_request(key, "POST", "/a?b=1", "body").value()).value();
  EXPECT_TRUE(net::is_signature_of(net::public_key(key).value(), "POST /a?b=1\n" + sha256_hex("body"), signature).value());
}

}  // namespace
}  // namespace slipway::agent
