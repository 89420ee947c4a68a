// What a machine sees of the others, at the moment in which it was asked: the words of data/provider/probe-machine.
#pragma once

#include "base/time.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::diagnosis {

struct Quote;

struct Probe {
  // A line that begins with a keyword, and its words.
  struct Line {
    int number = 0;
    std::vector<std::string> words;  // the keyword first
    std::string text;

    bool has_answer() const;  // of "reach": a status, not the words of curl
  };

  // Of a keyword and its first word, in order; an empty word is any. What a machine without an address of its own cannot reach
  // or resolve says nothing about the others: its network is just being made, and there are no such lines then.
  std::vector<Line> lines(std::string_view keyword, std::string_view first_word = {}) const;

  std::string file;
  std::vector<Line> all;
};

// Lines:
//
//   clock 2026-11-22T06:10:00Z
//   name api-int.demo.example.com 10.97.77.5          addresses, or nothing: it has none
//   address 10.97.77.11 eth0                          of its own
//   link eth0 02:61:4d:4d:00:0b                       hardware address of its own
//   neighbour 10.97.77.5 02:61:4d:4d:00:0a            who answers for an address of its link
//   reach https://api-int.demo.example.com:22623/healthz 200          or the words of curl
//   disk /var 100 0                                   mount point, per cent in use, KiB that are free
//   job bootkube.service start running                what its init has not done yet
//   certificate /opt/openshift/tls/x.crt 2026-11-22T06:10:00Z 2026-11-23T06:10:00Z
//   stolen 516316                                     milliseconds, of the host (sys/stolen_time.h); by who asked the machine
Probe parse_probe(std::string_view text, std::string_view file);

// Indices of machines that did not reach what another one reached. They were asked at the same time: what they did not reach may
// have come up in between. Only who misses it again, now that it is there, is cut off from it.
std::vector<std::size_t> to_ask_again(const std::vector<Probe>& probes);

Quote quote(const Probe& probe, const Probe::Line& line);

}  // namespace slipway::diagnosis
