// Short texts, any bytes. The first byte selects: d a duration, t a time, i an address, c a network, u a URL, l a Location (a
// URL, a zero byte, the header), h a template, x bytes for a data URL. A parsed value can be written and parsed again.
#include "../round_trip.h"
#include "base/check.h"
#include "base/template.h"
#include "base/time.h"
#include "ignition/data_url.h"
#include "net/ip.h"
#include "net/url.h"

#include <algorithm>
#include <cstdint>

namespace {

using namespace slipway;

std::string address_text(const net::IpAddress& address) { return net::to_string(address); }
std::string network_text(const net::Cidr& network) { return net::to_string(network); }
std::string url_text(const net::Url& url) { return net::to_string(url); }

std::string duration_text(Milliseconds duration) {
  const auto count = duration.count();
  return fmt::format("{}h{}s{}ms", count / 3'600'000, count % 3'600'000 / 1'000, count % 1'000);
}

void resolve(std::string_view text) {
  const std::size_t end = std::min(text.find('\0'), text.size());
  const auto base = net::parse_url(text.substr(0, end));
  if (!base.ok()) return;
  const auto url = net::resolve(base.value(), text.substr(std::min(end + 1, text.size())));
  round_trip(url, url_text, net::parse_url);
}

void fill(std::string_view text) {
  TemplateValues values;
  const auto holes = template_holes(text);
  CHECK(fill_template(text, "fuzz", values).ok() == holes.empty());
  for (const std::string& hole : holes) values[hole] = "value";
  const auto filled = fill_template(text, "fuzz", values);
  CHECK(filled.ok());
  CHECK(holes.empty() ? filled.value() == text : filled->find("value") != std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0]) {
    case 'd': {
      const auto duration = parse_duration(text);
      if (!duration.ok()) break;
      (void)human_duration(duration.value());
      // Numbers have a maximum.
      if (duration.value() > std::chrono::hours(1'000'000)) break;
      round_trip(duration, duration_text, parse_duration);
      break;
    }
    case 't': round_trip(parse_rfc3339(text), to_rfc3339, parse_rfc3339); break;
    case 'i': round_trip(net::parse_ip(text), address_text, net::parse_ip); break;
    case 'c': round_trip(net::parse_cidr(text), network_text, net::parse_cidr); break;
    case 'u': round_trip(net::parse_url(text), url_text, net::parse_url); break;
    case 'l': resolve(text); break;
    case 'h': fill(text); break;
    case 'x':
      (void)ignition::decode_data_url(text).ok();
      for (auto encoding : {ignition::DataEncoding::percent, ignition::DataEncoding::base64}) {
        CHECK(ignition::decode_data_url(ignition::encode_data_url(text, encoding)).value() == text);
      }
      break;
    default: break;
  }
  return 0;
}
