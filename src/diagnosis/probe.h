// Reads the output of data/provider/probe-machine: what a machine sees of the other machines and of the network.
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
  struct Line {
    int number = 0;
    std::vector<std::string> words;  // the keyword first
    std::string text;

    bool has_answer() const;  // for "reach": the line has an HTTP status, not an error of curl; for "port": it is open
  };

  // The lines with this keyword and this first word, in order. An empty word matches any. "reach", "port" and "name" have no
  // lines if the machine has no address: its network is still being set up, so failures prove nothing about the servers.
  std::vector<Line> lines(std::string_view keyword, std::string_view first_word = {}) const;

  std::string file;
  std::vector<Line> all;
};

// Lines:
//
//   clock 2026-11-22T06:10:00Z
//   name api-int.demo.example.com 10.97.77.5          the addresses; none if the name does not resolve
//   address 10.97.77.11 eth0                          an address of the machine
//   link eth0 02:61:4d:4d:00:0b                       a hardware address of the machine
//   neighbour 10.97.77.5 02:61:4d:4d:00:0a            the hardware address that answers for an address on the link
//   reach https://api-int.demo.example.com:22623/healthz 200          or the error of curl
//   port 10.97.77.12:2380 open                        or "refused", "timeout", "unreachable"
//   disk /var 100 0                                   mount point, per cent in use, free KiB
//   memory 24684084 23427236                          KiB: in all, available
//   unit kubelet.service active running S             states of systemd, and of the main process: T was stopped by a signal
//   words openshift-etcd/etcd-master-0 etcd TEXT      the last line of a container of the control plane
//   job bootkube.service start running                a pending job of systemd
//   certificate /opt/openshift/tls/x.crt 2026-11-22T06:10:00Z 2026-11-23T06:10:00Z      valid from, valid until
//   stolen 516316                                     stolen time of the host in ms (sys/stolen_time.h); added by the caller
Probe parse_probe(std::string_view text, std::string_view file);

// Indices of machines that did not reach a server that another machine reached. Probe these machines again: the server may have
// started between the probes. A machine is cut off only if its second probe fails too.
std::vector<std::size_t> to_ask_again(const std::vector<Probe>& probes);

Quote quote(const Probe& probe, const Probe::Line& line);

}  // namespace slipway::diagnosis
