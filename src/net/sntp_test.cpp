#include "net/sntp.h"

#include <gtest/gtest.h>

namespace slipway::net {
namespace {

using std::string_literals::operator""s;

const std::string number = "12345678";

std::string answer(char first, char stratum) {
  std::string packet(48, '\0');
  packet[0] = first;
  packet[1] = stratum;
  packet.replace(24, 8, number);
  packet.replace(32, 8, "\xee\x00\x00\x00\x80\x00\x00\x00"s);  // half a second after a full one
  packet.replace(40, 8, "\xee\x00\x00\x01\x00\x00\x00\x00"s);
  return packet;
}

TEST(Sntp, ARequestRepeatsItsNumberInTheAnswer) {
  const std::string request = sntp_request(number);
  EXPECT_EQ(request.size(), 48u);
  EXPECT_EQ(request[0], '\x23');
  EXPECT_EQ(request.substr(40), number);
}

TEST(Sntp, Times) {
  const SntpAnswer parsed = parse_sntp_answer(answer('\x24', 2), number).value();
  EXPECT_EQ(to_rfc3339(parsed.received), "2026-07-14T00:23:28.500Z");
  EXPECT_EQ(parsed.sent - parsed.received, Milliseconds(500));
  EXPECT_TRUE(parsed.is_synchronized);
  std::string next_era = answer('\x24', 2);
  next_era.replace(32, 8, std::string(8, '\0'));
  EXPECT_EQ(to_rfc3339(parse_sntp_answer(next_era, number)->received), "2036-02-07T06:28:16Z");
}

TEST(Sntp, ServersWithoutTheTime) {
  EXPECT_FALSE(parse_sntp_answer(answer('\x24', 0), number)->is_synchronized);   // "kiss of death"
  EXPECT_FALSE(parse_sntp_answer(answer('\x24', 16), number)->is_synchronized);  // not synchronized
  EXPECT_FALSE(parse_sntp_answer(answer('\xe4', 2), number)->is_synchronized);   // alarm
}

TEST(Sntp, OtherPackets) {
  EXPECT_FALSE(parse_sntp_answer(answer('\x24', 2), "87654321").ok());
  EXPECT_FALSE(parse_sntp_answer(answer('\x23', 2), number).ok());
  EXPECT_FALSE(parse_sntp_answer(answer('\x24', 2).substr(0, 47), number).ok());
  EXPECT_FALSE(parse_sntp_answer("", number).ok());
}

}  // namespace
}  // namespace slipway::net
