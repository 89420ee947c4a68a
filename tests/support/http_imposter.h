// HttpImposter: a real HTTP server on loopback whose answers the test chooses, including invalid ones.
//
//   HttpImposter server([](const HttpImposter::Seen& seen) {
//     return HttpImposter::Reply{.status = 503, .headers = {"Retry-After: 1"}};
//   });
//   http.send({.url = server.url("/v2/")}, {});
//   EXPECT_EQ(server.journal().at(0).target, "/v2/");
#pragma once

#include "base/guarded.h"
#include "net/url.h"
#include "sys/fd.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace slipway::testing_support {

// One thread accepts, one thread serves each connection (keep-alive); all end with the object. Several threads call the handler.
class HttpImposter {
 public:
  struct Seen {
    std::string method;
    std::string target;
    std::map<std::string, std::string> headers;  // names in lower case
    std::string body;
    int connection = 0;  // number of the connection, from 1

    std::string header(const std::string& name) const;
    std::string line() const { return method + " " + target; }
  };

  struct Reply {
    int status = 200;
    std::vector<std::string> headers{};  // "Name: value"; Content-Length is added if it is missing
    std::string body{};
    // bytes of the body that are sent before the connection is closed
    std::size_t cut_after = std::numeric_limits<std::size_t>::max();
    bool hang = false;                         // keep the connection open after those bytes, without sending more
    std::chrono::milliseconds piece_pause{0};  // between pieces of 1 kB of the body
  };

  using Handler = std::function<Reply(const Seen&)>;

  explicit HttpImposter(Handler handler);
  ~HttpImposter();

  int port() const { return port_; }
  net::Url url(std::string target) const { return {"http", "127.0.0.1", port_, std::move(target)}; }
  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }

  std::vector<Seen> journal() const;
  std::vector<std::string> lines() const;  // requests of the journal, "GET /v2/"
  void forget() {
    journal_.with_lock([](auto& journal) { journal.clear(); });
  }

 private:
  void accept_all(const std::stop_token& stop);
  void serve(int connection, sys::Fd socket, const std::stop_token& stop);
  bool answer(const sys::Fd& socket, const Seen& seen, const std::stop_token& stop);

  Handler handler_;
  int port_ = 0;
  sys::Fd listener_;
  Guarded<std::vector<Seen>> journal_;
  std::vector<std::jthread> connections_;
  std::jthread acceptor_;
};

// A port of loopback on which no server listens.
int unused_port();

}  // namespace slipway::testing_support
