// The implementation of Http with libcurl.
#pragma once

#include "net/http.h"

#include <memory>

namespace slipway::net {

// Keeps idle connections to the last few servers. Honors http_proxy, https_proxy and no_proxy. Errors in addition to those of
// Http: unavailable: libcurl is not installed (net/curl.h). Threads: any.
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
