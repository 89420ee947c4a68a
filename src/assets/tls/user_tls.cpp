#include "assets/tls/user_tls.h"

#include "base/findings.h"
#include "base/text.h"

#include <algorithm>
#include <array>

namespace slipway::assets {

namespace {

constexpr std::string_view signing_key_file = "tls/bound-service-account-signing-key.key";
constexpr std::string_view hash_file = "tls/kubeadmin-password.hash";
constexpr const char* certificates_variable = "OPENSHIFT_INSTALL_LOAD_CLUSTER_CERTS";

struct Pair {
  std::string_view name;
  bool is_authority = true;

  std::string certificate_file() const { return fmt::format("tls/{}.crt", name); }
  std::string key_file() const { return fmt::format("tls/{}.key", name); }
};

constexpr std::array<Pair, 5> pairs = {{{"admin-kubeconfig-signer"},
                                        {"admin-kubeconfig-client", false},
                                        {"kube-apiserver-localhost-signer"},
                                        {"kube-apiserver-service-network-signer"},
                                        {"kube-apiserver-lb-signer"}}};

const std::string* find_file(const Snapshot& folder, std::string_view path) {
  const auto found = folder.find(path);
  return found == folder.end() ? nullptr : &found->second;
}

// "$2a$10$" and 53 characters: the format that the OAuth server accepts.
bool is_bcrypt(std::string_view text) {
  constexpr std::string_view alphabet = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  if (text.size() != 60 || !text.starts_with("$2") || std::string_view("aby").find(text[2]) == std::string_view::npos)
    return false;
  const std::string_view cost = text.substr(4, 2);
  return text[3] == '$' && text[6] == '$' && cost >= "04" && cost <= "31" && cost[1] >= '0' && cost[1] <= '9' &&
         text.substr(7).find_first_not_of(alphabet) == std::string_view::npos;
}

class Finder {
 public:
  Finder(const Snapshot& folder, const Environment& environment) : folder_(folder), environment_(environment) {}

  Result<FoundTls> find() {
    find_signing_key();
    find_hash();
    for (const Pair& pair : pairs) find_pair(pair);
    TRY(findings_.to_result());
    return std::move(found_);
  }

 private:
  template <class... Args>
  Findings::Added fail(std::string_view file, fmt::format_string<Args...> text, Args&&... args) {
    return findings_.error({std::string(file)}, "", text, std::forward<Args>(args)...);
  }

  void find_signing_key() {
    const std::string* text = find_file(folder_, signing_key_file);
    if (text == nullptr) return;
    const Result<std::string> algorithm = net::key_algorithm(Secret(*text));
    if (!algorithm.ok()) {
      fail(signing_key_file, "{}", algorithm.error().message()).hint("a PEM file with an RSA or ECDSA key, without a passphrase");
    } else if (algorithm.value() != "RSA" && algorithm.value() != "EC") {
      fail(signing_key_file, "must be an RSA or ECDSA key, got {}", algorithm.value());
    } else {
      found_.tls.signing_key = Secret(*text);
    }
  }

  void find_hash() {
    const std::string* text = find_file(folder_, hash_file);
    if (text == nullptr) return;
    if (!environment_.has_kubeadmin()) {
      found_.warnings.push_back(
          fmt::format("{}: ignored, {}", hash_file,
                      environment_.no_kubeadmin ? "because of --no-kubeadmin" : "this release has no OAuth server"));
    }
    const std::string_view hash = trim(*text);
    if (is_bcrypt(hash)) {
      found_.tls.password_hash = hash;
    } else {
      fail(hash_file, "not a bcrypt hash").hint("htpasswd -nBC 10 kubeadmin | cut -d: -f2");
    }
  }

  void find_pair(const Pair& pair) {
    const std::string* pem = find_file(folder_, pair.certificate_file());
    const std::string* key = find_file(folder_, pair.key_file());
    if (pem == nullptr && key == nullptr) return;
    if (!environment_.load_certificates) {
      found_.warnings.push_back(fmt::format("{}: ignored (set {}=true to use it)",
                                            pem == nullptr ? pair.key_file() : pair.certificate_file(), certificates_variable));
    } else if (pem == nullptr) {
      fail(pair.certificate_file(), "missing, but its key exists").hint("add both, or neither");
    } else if (key == nullptr) {
      fail(pair.key_file(), "missing, but its certificate exists").hint("add both, or neither");
    } else {
      check(pair, *pem, Secret(*key));
    }
  }

  void check(const Pair& pair, const std::string& pem, const Secret& key) {
    const Result<std::vector<std::string>> parts = net::split_certificates(pem);
    const Result<Secret> own_key = net::private_key(key);
    if (!parts.ok()) fail(pair.certificate_file(), "{}", parts.error().message());
    if (!own_key.ok()) fail(pair.key_file(), "{}", own_key.error().message());
    if (!parts.ok() || !own_key.ok()) return;
    const net::Certificate certificate{parts->front(), own_key.value()};
    const Result<net::CertificateInfo> info = net::parse_certificate(certificate.pem);
    const Result<bool> fits = net::key_fits(certificate.pem, certificate.key);
    if (!info.ok() || !fits.ok()) {
      fail(pair.certificate_file(), "{}", (info.ok() ? fits.error() : info.error()).message());
      return;
    }
    if (!fits.value()) fail(pair.key_file(), "not the key of {}", pair.certificate_file());
    if (pair.is_authority && !info->is_ca) fail(pair.certificate_file(), "not a certificate authority");
    if (info->not_after <= environment_.now) {
      fail(pair.certificate_file(), "expired: valid until {}, but the time is {}", to_rfc3339(info->not_after),
           to_rfc3339(now()));
    } else if (info->not_before > environment_.now) {
      fail(pair.certificate_file(), "not valid yet: valid from {}, but the time is {}", to_rfc3339(info->not_before),
           to_rfc3339(now()));
    }
    found_.tls.pairs.emplace(pair.name, certificate);
  }

  WallTime now() const { return std::chrono::floor<Seconds>(environment_.now); }

  const Snapshot& folder_;
  const Environment& environment_;
  Findings findings_;
  FoundTls found_;
};

}  // namespace

std::span<const std::string> user_tls_files() {
  static const std::vector<std::string> files = [] {
    std::vector<std::string> all = {std::string(signing_key_file), std::string(hash_file)};
    for (const Pair& pair : pairs) {
      all.push_back(pair.certificate_file());
      all.push_back(pair.key_file());
    }
    return all;
  }();
  return files;
}

Result<FoundTls> find_user_tls(const Snapshot& folder, const Environment& environment) {
  return Finder(folder, environment).find();
}

}  // namespace slipway::assets
