// Kubeconfigs: read from files and made for others.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "sys/files.h"

#include <functional>
#include <string>
#include <string_view>

namespace slipway::kube {

// One cluster as one user sees it: what the current context of a kubeconfig says, files read and base64 decoded.
struct Access {
  std::string server;             // "https://api-int.demo.example.com:6443"
  std::string ca{};               // PEM; the system's authorities when empty
  std::string tls_server_name{};  // name that the server's certificate has to have; the URL's host when empty
  std::string connect_to{};       // "127.0.0.1:6443": see net::Trust; not part of kubeconfigs
  std::string client_certificate{};
  Secret client_key{};
  Secret token{};

  bool operator==(const Access&) const = default;
};

// Reads the current context (the only one when none is said to be current).
//
//   read_file  reads what certificate-authority, client-certificate, client-key and tokenFile name
//   errors     invalid, with every problem and its place: no such context, neither CA nor system CA (insecure-skip-tls-verify is
//              refused), broken base64
Result<Access> parse_kubeconfig(std::string_view text, std::string_view name,
                                const std::function<Result<std::string>(const std::string&)>& read_file);

// The same of a file; relative names in it are taken as they are. errors: also those of Files::read
Result<Access> read_kubeconfig(sys::Files& files, const std::string& path);

// A kubeconfig of one cluster, one user and one context, with the data in it. The context has the name of the user.
//
//   clusters: [{name: demo, cluster: {server: ..., certificate-authority-data: ...}}]
Json make_kubeconfig(const Access& access, std::string_view cluster, std::string_view user);

}  // namespace slipway::kube
