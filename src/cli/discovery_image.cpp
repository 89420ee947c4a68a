#include "cli/discovery_image.h"

#include "base/json.h"
#include "base/text.h"
#include "net/url.h"
#include "release/live_image.h"
#include "sys/file_reader.h"

#include <fmt/core.h>

namespace slipway::cli {

namespace {

// The URL may have a token.
std::string without_query(std::string_view url) { return std::string(url.substr(0, url.find('?'))); }

Result<std::string> read_part(const Environment& environment, const net::Url& url, const std::string& shown,
                              const std::string& ca_file, std::uint64_t offset, std::size_t length) {
  net::Request request{.url = url};
  request.headers.push_back({"Range", fmt::format("bytes={}-{}", offset, offset + length - 1)});
  request.tls.ca_file = ca_file;
  net::Answer answer = TRY(environment.http.send(request, environment.context.stop).context(shown));
  if (answer.status == 206) return std::move(answer.body);
  if (answer.status == 200)
    return error(Code::invalid, "{}: the server sends the whole file only (download it, and use the file)", shown);
  return error(Code::unavailable, "{}: the server answers {}: {}", shown, answer.status,
               to_utf8(trim(answer.body)).substr(0, 500));
}

}  // namespace

Result<std::string> discovery_config(const Environment& environment, const std::string& image, const std::string& ca_file) {
  const bool is_url = image.starts_with("https://") || image.starts_with("http://");
  if (!is_url && !ca_file.empty()) return error(Code::invalid, "--cacert: requires an image with a URL");
  const std::string shown = is_url ? without_query(image) : image;
  release::ReadAt read;
  if (is_url) {
    const net::Url url = TRY(net::parse_url(image).context(shown));
    read = [&environment, url, shown, ca_file](std::uint64_t offset, std::size_t length) {
      return read_part(environment, url, shown, ca_file, offset, length);
    };
  } else {
    const sys::FileReader file = TRY(sys::FileReader::open(image));
    read = [file](std::uint64_t offset, std::size_t length) { return file.read(offset, length); };
  }
  const release::Extent area = TRY(release::find_config_area(read).context(shown));
  std::string config =
      TRY(release::embedded_config(TRY(read(area.offset, static_cast<std::size_t>(area.length)))).context(shown));
  if (config.empty()) {
    return error(Code::invalid, "{}: has no config, so it is no discovery image (download the one of a discovery environment)",
                 shown);
  }
  TRY(parse_json(config, shown));
  return config;
}

}  // namespace slipway::cli
