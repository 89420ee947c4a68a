// The Http of production: libcurl, connections kept and reused.
#pragma once

#include "net/http.h"

#include <memory>

namespace slipway::net {

// Keeps idle connections of the last few servers. Honours http_proxy, https_proxy, no_proxy. Errors besides those of Http:
// unavailable, where libcurl is not installed (net/curl.h). Threads: any.
class CurlHttp final : public Http {
 public:
  CurlHttp();
  ~CurlHttp() override;
  Result<Answer> send(const Request& request, std::stop_token stop, const Sink& sink = nullptr) override;

 private:
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace slipway::net
