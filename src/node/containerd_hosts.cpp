#include "node/containerd_hosts.h"

#include "base/findings.h"
#include "net/url.h"

#include <algorithm>
#include <optional>
#include <utility>

// Some mistakes in a text, such as a table "[/]", break an assertion of toml++ 3.3. They must not end the program.
namespace slipway::node {
struct BrokenAssertion {};
constexpr void check_assertion(bool holds) {
  if (!holds) throw BrokenAssertion();
}
}  // namespace slipway::node
#undef NDEBUG
#define TOML_ASSERT(condition) slipway::node::check_assertion(static_cast<bool>(condition))
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace slipway::node {

namespace {

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  Result<std::vector<ContainerdHost>> read(const toml::table& document) const {
    std::vector<std::pair<toml::source_position, ContainerdHost>> hosts;
    if (const toml::node* node = document.get("host")) {
      const toml::table* tables = node->as_table();
      if (tables == nullptr) return wrong(*node, "host", "a table");
      for (const auto& [key, value] : *tables) {
        const toml::table* settings = value.as_table();
        if (settings == nullptr) return wrong(value, "host", "a table of tables");
        ContainerdHost host = TRY(read_host(*settings, key.str(), value));
        hosts.emplace_back(key.source().begin, std::move(host));
      }
    }
    // The tables of the parser are sorted by name.
    std::ranges::sort(hosts, [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<ContainerdHost> all;
    for (auto& [position, host] : hosts) all.push_back(std::move(host));
    const std::string server = TRY(read_text(document, "server"));
    ContainerdHost last = TRY(read_host(document, server, document));
    all.push_back(std::move(last));
    return all;
  }

  Error wrong(const toml::source_position& at, std::string_view reason) const {
    return error(Code::invalid, "{}: {}", to_string(Place{path_, static_cast<int>(at.line), static_cast<int>(at.column)}),
                 reason);
  }

 private:
  Error wrong(const toml::node& node, std::string_view key, std::string_view expected) const {
    return wrong(node.source().begin, fmt::format("'{}' must be {}", key, expected));
  }

  // The strings of an array, or a single one.
  Result<std::vector<std::string>> read_texts(const toml::table& table, std::string_view key) const {
    std::vector<std::string> texts;
    const toml::node* node = table.get(key);
    if (node == nullptr) return texts;
    if (const auto* text = node->as_string()) return std::vector<std::string>{text->get()};
    const toml::array* array = node->as_array();
    if (array == nullptr) return wrong(*node, key, "a string or a list of strings");
    for (const toml::node& item : *array) {
      const auto* text = item.as_string();
      if (text == nullptr) return wrong(item, key, "a string or a list of strings");
      texts.push_back(text->get());
    }
    return texts;
  }

  Result<std::string> read_text(const toml::table& table, std::string_view key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return std::string();
    if (const auto* text = node->as_string()) return text->get();
    return wrong(*node, key, "a string");
  }

  Result<bool> read_flag(const toml::table& table, std::string_view key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return false;
    if (const auto* flag = node->as_boolean()) return flag->get();
    return wrong(*node, key, "true or false");
  }

  // node: where the server's name is
  Result<ContainerdHost> read_host(const toml::table& table, std::string_view server, const toml::node& node) const {
    ContainerdHost host;
    const bool overrides_path = TRY(read_flag(table, "override_path"));
    if (!server.empty()) TRY(read_server(server, overrides_path, node, host));
    host.skips_verification = TRY(read_flag(table, "skip_verify"));
    const std::vector<std::string> capabilities = TRY(read_texts(table, "capabilities"));
    if (!capabilities.empty()) {
      host.can_pull = std::ranges::find(capabilities, "pull") != capabilities.end();
      host.can_resolve = std::ranges::find(capabilities, "resolve") != capabilities.end();
    }
    host.ca_files = TRY(read_texts(table, "ca"));
    for (std::string& file : host.ca_files) {
      if (!file.starts_with('/')) file.insert(0, path_.substr(0, path_.rfind('/') + 1));
    }
    return host;
  }

  Result<> read_server(std::string_view text, bool overrides_path, const toml::node& node, ContainerdHost& host) const {
    const bool has_scheme = text.find("://") != std::string_view::npos;
    const Result<net::Url> url = net::parse_url((has_scheme ? "" : "https://") + std::string(text));
    if (!url.ok()) return wrong(node.source().begin, url.error().message());
    if (url->target.find('?') != std::string::npos) {
      return wrong(node.source().begin, fmt::format("'{}' must not have a query", text));
    }
    host.server = net::authority(url.value());
    host.is_plain = url->scheme == "http";
    host.path = url->target;
    while (host.path.ends_with('/')) host.path.pop_back();
    if (!overrides_path && !host.path.ends_with("/v2")) host.path += "/v2";
    return Ok{};
  }

  const std::string& path_;
};

// toml++ 3.3 has undefined behavior for some characters that are not ASCII. Comments have them; keys and values need none.
std::string ascii_of(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::string ascii(text);
  std::ranges::replace_if(
      ascii, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return ascii;
}

}  // namespace

Result<std::vector<ContainerdHost>> parse_containerd_hosts(std::string_view text, const std::string& path) {
  const Reader reader(path);
  try {
    const toml::parse_result document = toml::parse(ascii_of(text));
    if (document) return reader.read(document.table());
    return reader.wrong(document.error().source().begin, document.error().description());
  } catch (const BrokenAssertion&) {
    return error(Code::invalid, "{}: is not TOML", path);
  }
}

}  // namespace slipway::node
