#include "net/neighbors.h"

#include "net/packets.h"

#include <gtest/gtest.h>

namespace slipway::net {
namespace {

using std::string_literals::operator""s;

const MacAddress own_mac = parse_mac("52:54:00:00:00:01").value();
const MacAddress other_mac = parse_mac("52:54:00:00:00:02").value();

IpAddress ip(std::string_view text) { return parse_ip(text).value(); }

TEST(MacAddress, Texts) {
  EXPECT_EQ(to_string(parse_mac("52:54:00:AB:cd:01").value()), "52:54:00:ab:cd:01");
  for (const char* wrong :
       {"", "52:54:00:ab:cd", "52:54:00:ab:cd:01:02", "52-54-00-ab-cd-01", "5:54:00:ab:cd:001", "gg:54:00:ab:cd:01"}) {
    EXPECT_FALSE(parse_mac(wrong).ok()) << wrong;
  }
}

TEST(Neighbors, AnArpRequest) {
  EXPECT_EQ(neighbor_question(own_mac, ip("10.0.0.1"), ip("10.0.0.2")),
            "\xff\xff\xff\xff\xff\xff\x52\x54\0\0\0\1\x08\x06"
            "\0\1\x08\0\6\4\0\1\x52\x54\0\0\0\1\x0a\0\0\1\0\0\0\0\0\0\x0a\0\0\2"s);
  EXPECT_EQ(neighbor_question(own_mac, std::nullopt, ip("10.0.0.2")).substr(28, 4), "\0\0\0\0"s);
}

TEST(Neighbors, ASolicitation) {
  const std::string frame = neighbor_question(own_mac, ip("fd00::1"), ip("fd00::aa:bbcc"));
  EXPECT_EQ(frame.substr(0, 14), "\x33\x33\xff\xaa\xbb\xcc\x52\x54\0\0\0\1\x86\xdd"s);
  EXPECT_EQ(frame.size(), 14u + 40 + 32);
  const std::string message = frame.substr(54);
  EXPECT_EQ(message.substr(24), "\1\1\x52\x54\0\0\0\1"s);
  const std::string pseudo_header = frame.substr(22, 32) + "\0\0\0\x20\0\0\0\x3a"s;
  EXPECT_EQ(internet_checksum(pseudo_header + message), 0u);
  // A machine without an address must not send its MAC address (RFC 4861 4.3).
  EXPECT_EQ(neighbor_question(own_mac, std::nullopt, ip("fd00::2")).size(), 14u + 40 + 24);
}

TEST(Neighbors, Answers) {
  const std::string arp =
      "\x52\x54\0\0\0\1\x52\x54\0\0\0\2\x08\x06"
      "\0\1\x08\0\6\4\0\2\x52\x54\0\0\0\2\x0a\0\0\2\x52\x54\0\0\0\1\x0a\0\0\1"s;
  EXPECT_EQ(parse_neighbor_answer(arp), (NeighborAnswer{ip("10.0.0.2"), other_mac}));
  EXPECT_EQ(parse_neighbor_answer(arp + std::string(18, '\0')),
            (NeighborAnswer{ip("10.0.0.2"), other_mac}));  // padded by a switch

  std::string advertisement = "\x52\x54\0\0\0\1\x52\x54\0\0\0\x0f\x86\xdd\x60\0\0\0\0\x20\x3a\xff"s + std::string(32, '\1') +
                              "\x88\0\0\0\x60\0\0\0"s + std::string(bytes_of(ip("fd00::2"))) + "\2\1\x52\x54\0\0\0\2"s;
  EXPECT_EQ(parse_neighbor_answer(advertisement), (NeighborAnswer{ip("fd00::2"), other_mac}));
  advertisement.resize(advertisement.size() - 8);  // without the option, the sender is the machine
  EXPECT_EQ(to_string(parse_neighbor_answer(advertisement).value().mac), "52:54:00:00:00:0f");
}

TEST(Neighbors, OtherFrames) {
  const std::string question = neighbor_question(own_mac, ip("10.0.0.1"), ip("10.0.0.2"));
  EXPECT_EQ(parse_neighbor_answer(question), std::nullopt);
  EXPECT_EQ(parse_neighbor_answer(neighbor_question(own_mac, ip("fd00::1"), ip("fd00::2"))), std::nullopt);
  std::string reply = question;
  reply[21] = '\2';
  ASSERT_TRUE(parse_neighbor_answer(reply));
  for (std::size_t size = 0; size < reply.size(); ++size) EXPECT_EQ(parse_neighbor_answer(reply.substr(0, size)), std::nullopt);
}

}  // namespace
}  // namespace slipway::net
