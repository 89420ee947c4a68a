// Tests CurlHttp's TlsOptions with a server that reports the identity of each client.
#include "net/curl_http.h"
#include "net/x509.h"
#include "support/http_imposter.h"
#include "support/test_certificate.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <gtest/gtest.h>
#include <microhttpd.h>
#include <netinet/in.h>

#include <chrono>
#include <utility>

namespace slipway::net {
namespace {

using testing_support::make_test_certificate;

// Accepts any client certificate. The body of the answer is its common name and the number of connections so far.
class MirrorServer {
 public:
  explicit MirrorServer(const Certificate& identity) {
    daemon_ = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_USE_TLS, 0, nullptr, nullptr, &answer, this,
                               MHD_OPTION_SOCK_ADDR, &address_, MHD_OPTION_HTTPS_MEM_CERT, identity.pem.c_str(),
                               MHD_OPTION_HTTPS_MEM_KEY, identity.key.reveal().c_str(), MHD_OPTION_HTTPS_MEM_TRUST,
                               identity.pem.c_str(), MHD_OPTION_NOTIFY_CONNECTION, &count, this, MHD_OPTION_END);
  }
  ~MirrorServer() { MHD_stop_daemon(daemon_); }

  Url url() const { return {"https", "127.0.0.1", MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_BIND_PORT)->port, "/"}; }

 private:
  static void count(void* self, MHD_Connection*, void**, MHD_ConnectionNotificationCode code) {
    if (code == MHD_CONNECTION_NOTIFY_STARTED) ++static_cast<MirrorServer*>(self)->connections_;
  }

  static std::string common_name_of_peer(MHD_Connection* connection) {
    void* session = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session;
    unsigned count = 0;
    const gnutls_datum_t* shown = gnutls_certificate_get_peers(static_cast<gnutls_session_t>(session), &count);
    if (count == 0) return "nobody";
    gnutls_datum_t pem{};
    gnutls_pem_base64_encode2("CERTIFICATE", shown, &pem);
    const std::string text(reinterpret_cast<char*>(pem.data), pem.size);
    gnutls_free(pem.data);
    return parse_certificate(text).value().subject.common_name;
  }

  static MHD_Result answer(void* self, MHD_Connection* connection, const char*, const char*, const char*, const char*, size_t*,
                           void** state) {
    if (std::exchange(*state, self) == nullptr) return MHD_YES;  // an answer to the head alone would close the connection
    std::string body = fmt::format("{} {}", common_name_of_peer(connection), static_cast<MirrorServer*>(self)->connections_);
    MHD_Response* response = MHD_create_response_from_buffer(body.size(), body.data(), MHD_RESPMEM_MUST_COPY);
    const MHD_Result queued = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return queued;
  }

  sockaddr_in address_{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  int connections_ = 0;  // used by the daemon's only thread
  MHD_Daemon* daemon_ = nullptr;
};

class CurlHttpTls : public testing::Test {
 protected:
  Result<std::string> ask(const TlsOptions& tls, const std::string& host = "127.0.0.1") {
    Request request{.url = server_.url(), .tls = tls};
    request.url.host = host;
    return TRY(http_.send(request, {})).body;
  }
  TlsOptions as(const Certificate& client) { return {.ca_pem = ca_.pem, .client_pem = client.pem, .client_key = client.key}; }
  std::string address() const { return authority(server_.url()); }

  const Certificate ca_ = make_test_certificate("ca"), other_ca_ = make_test_certificate("ca");
  const Certificate ann_ = make_test_certificate("ann", &ca_), bob_ = make_test_certificate("bob", &ca_);
  MirrorServer server_{make_test_certificate("server", &ca_)};
  CurlHttp http_;
};

TEST_F(CurlHttpTls, BelievesOnlyTheAuthoritiesItIsGiven) {
  EXPECT_EQ(ask({.ca_pem = ca_.pem}).value(), "nobody 1");
  for (const TlsOptions& tls : {TlsOptions{}, TlsOptions{.ca_pem = other_ca_.pem}}) {
    auto refused = ask(tls);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code(), Code::denied) << refused.error().message();
    EXPECT_TRUE(refused.error().message().starts_with(address() + ": the server's certificate is not trusted: "))
        << refused.error().message();
  }
  EXPECT_TRUE(ask({.ca_pem = other_ca_.pem + ca_.pem}).ok());
  EXPECT_TRUE(ask({.insecure_skip_verify = true}).ok());
  // A connection that was opened without verification is not reused with verification.
  EXPECT_EQ(ask({.ca_pem = other_ca_.pem}).error().code(), Code::denied);
}

TEST_F(CurlHttpTls, ChecksTheNameNotTheAddress) {
  auto with = [&](bool insecure_skip_verify) {
    return TlsOptions{.ca_pem = ca_.pem, .insecure_skip_verify = insecure_skip_verify, .connect_to = address()};
  };
  EXPECT_TRUE(ask(with(false), "api.demo.example").ok());
  EXPECT_EQ(ask(with(false), "other.example").error().code(), Code::denied);
  EXPECT_TRUE(ask(with(true), "other.example").ok());
}

TEST_F(CurlHttpTls, NeverSharesAConnectionBetweenIdentities) {
  EXPECT_EQ(ask({.ca_pem = ca_.pem}).value(), "nobody 1");
  EXPECT_EQ(ask(as(ann_)).value(), "ann 2");
  EXPECT_EQ(ask(as(bob_)).value(), "bob 3");
  // Each client has its own connection and keeps it.
  EXPECT_EQ(ask(as(bob_)).value(), "bob 3");
  EXPECT_EQ(ask(as(ann_)).value(), "ann 3");
  EXPECT_EQ(ask({.ca_pem = ca_.pem}).value(), "nobody 3");
}

TEST_F(CurlHttpTls, SaysWhenItsOwnSideIsUnusable) {
  const std::string where = address();
  struct Case {
    TlsOptions tls;
    std::string message;
  };
  const Case cases[] = {
      {{.ca_pem = "x"}, where + ": the CA certificates cannot be used: "},
      {{.ca_pem = ca_.pem, .client_pem = ann_.pem, .client_key = bob_.key},
       where + ": the client certificate and key cannot be used: "},
      {{.ca_pem = ca_.pem, .client_pem = "x", .client_key = bob_.key},
       where + ": the client certificate and key cannot be used: "},
  };
  for (const Case& c : cases) {
    auto answer = ask(c.tls);
    ASSERT_FALSE(answer.ok()) << c.message;
    EXPECT_EQ(answer.error().code(), Code::invalid) << answer.error().message();
    EXPECT_TRUE(answer.error().message().starts_with(c.message)) << answer.error().message();
  }
}

}  // namespace
}  // namespace slipway::net
