// Answers of API servers, any bytes. The first byte selects: a an answer with its status in the second byte; w a watch, which
// gives the same events wherever its chunks are split.
#include "base/check.h"
#include "kube/client.h"
#include "kube/conditions.h"
#include "sys/clock.h"

#include <algorithm>
#include <cstdint>

namespace {

using namespace slipway;

// Answers every request with the same text, in chunks of one size.
class OneAnswer final : public net::Http {
 public:
  OneAnswer(int status, std::string_view text, std::size_t piece) : status_(status), text_(text), piece_(piece) {}

  Result<net::Answer> send(const net::Request&, std::stop_token, const net::Sink& sink) override {
    if (!sink) return net::Answer{status_, {}, std::string(text_)};
    for (std::size_t at = 0; at < text_.size(); at += piece_) TRY(sink(text_.substr(at, piece_)));
    return net::Answer{status_, {}, ""};
  }

 private:
  int status_;
  std::string_view text_;
  std::size_t piece_;
};

std::string watched(const sys::Context& context, std::string_view text, std::size_t piece) {
  OneAnswer http(200, text, piece);
  kube::Client client(http, {.server = "https://a"});
  std::string seen;
  const Result<> done = client.stream(context, "/api/v1/nodes?watch=true", [&](kube::WatchEvent event) -> Result<> {
    seen += fmt::format("{} {}\n", static_cast<int>(event.kind), emit_json(event.object, JsonStyle::compact));
    (void)kube::describe(event.object);
    (void)kube::condition_status(event.object, "Ready");
    return Ok{};
  });
  return seen + (done.ok() ? "ended" : done.error().message());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  sys::RealClock clock;
  Log log(Level::error, [](Level, std::string_view) {});
  sys::Events events(clock, "fuzz");
  const sys::Context context{clock, log, events};
  switch (data[0]) {
    case 'a': {
      OneAnswer http(100 + data[1] * 2, text.substr(1), 1);
      kube::Client client(http, {.server = "https://a"});
      std::string version;
      (void)kube::list(context, client, kube::types::nodes, "", {}, &version).ok();
      (void)kube::get(context, client, kube::types::nodes, "", "n").ok();
      break;
    }
    case 'w': {
      const std::string whole = watched(context, text, text.size());
      for (std::size_t piece : {1, 7}) CHECK(watched(context, text, piece) == whole);
      break;
    }
    default: break;
  }
  return 0;
}
