// Reads and writes kubeconfigs.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "sys/files.h"

#include <functional>
#include <string>
#include <string_view>

namespace slipway::kube {

// How to access one cluster as one user: the current context of a kubeconfig, with files read and base64 decoded.
struct Access {
  std::string server;             // "https://api-int.demo.example.com:6443"
  std::string ca{};               // PEM; if empty, the system's authorities
  std::string tls_server_name{};  // host name that the server's certificate must have; if empty, the URL's host
  std::string connect_to{};       // "127.0.0.1:6443": see net::TlsOptions; not part of kubeconfigs
  std::string client_certificate{};
  Secret client_key{};
  Secret token{};

  bool operator==(const Access&) const = default;
};

// Reads the current context, or the only one if none is set.
//
//   read_file  reads the files of certificate-authority, client-certificate, client-key and tokenFile
//   errors     invalid, listing all problems with their places: no such context, insecure-skip-tls-verify or another setting that
//              is not supported, a client certificate without its key, malformed base64
Result<Access> parse_kubeconfig(std::string_view text, std::string_view name,
                                const std::function<Result<std::string>(const std::string&)>& read_file);

// Reads a kubeconfig file. Relative paths in it are relative to the file's folder. errors: also those of Files::read
Result<Access> read_kubeconfig(sys::Files& files, const std::string& path);

// A kubeconfig with one cluster, one user and one context, with embedded data. The context has the user's name.
//
//   clusters: [{name: demo, cluster: {server: ..., certificate-authority-data: ...}}]
Json make_kubeconfig(const Access& access, std::string_view cluster, std::string_view user);

}  // namespace slipway::kube
