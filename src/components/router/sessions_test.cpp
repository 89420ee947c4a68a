#include "components/router/sessions.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

namespace slipway::components::router {
namespace {

// As haproxy 3.0.11 writes it, without most lines.
std::string session(std::string_view frontend, std::string_view address, std::string_view backend) {
  return fmt::format(R"(0x7fcf76ca0000: [28/Nov/2026:21:49:11.827330] id=1 proto=tcpv4 source=127.0.0.1:40118
  flags=0xc4a, conn_retries=0, conn_exp=<NEVER> conn_et=0x000 srv_conn=0x7ffbc4866000, pend_pos=(nil) waiting=0 epoch=0
  frontend={} (id=2 mode=http), listener=? (id=1) addr={}
  backend={} (id=3 mode=http) addr=127.0.0.1:52472
  server=s (id=1) addr=127.0.0.1:18081
  task=0x7ffbc3a021e0 (state=0x00 nice=0 calls=2 rate=0 exp=4s tid=1(1/1) age=1s)
)",
                     frontend, address, backend);
}

int in_use(const std::string& text) {
  return sessions_in_use(text, [](const net::IpAddress& address) {
    return address == net::parse_ip("10.0.0.7").value() || address == net::parse_ip("fd00::7").value();
  });
}

TEST(SessionsInUse, AreThoseOfAddressesOfThisMachine) {
  EXPECT_EQ(in_use(""), 0);
  EXPECT_EQ(in_use(session("GLOBAL", "unix:1", "<NONE>")), 0);
  EXPECT_EQ(in_use(session("public", "10.0.0.7:80", "be_http_1")), 1);
  EXPECT_EQ(in_use(session("public", "fd00::7:80", "be_http_1")), 1);
  EXPECT_EQ(in_use(session("public", "10.0.0.8:80", "be_http_1")), 0);
  EXPECT_EQ(in_use(session("public", "fd00::8:80", "be_http_1")), 0);
  EXPECT_EQ(in_use(session("public", "<NONE>", "<NONE>")), 1);
  EXPECT_EQ(in_use(session("own_tls_end", "unix:1", "be_http_1") + session("GLOBAL", "unix:1", "<NONE>") +
                   session("public_ssl", "10.0.0.7:443", "be_tcp_1")),
            2);
}

TEST(SessionsInUse, CountAConnectionThroughTwoFrontendsOnce) {
  const std::string outer = session("public_ssl", "10.0.0.7:443", "own_tls");
  EXPECT_EQ(in_use(outer), 0);
  EXPECT_EQ(in_use(outer + session("own_tls_end", "10.0.0.7:443", "be_http_1")), 1);
}

}  // namespace
}  // namespace slipway::components::router
