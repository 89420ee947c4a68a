#include "support/file_tree.h"

#include "base/digest.h"
#include "base/text.h"
#include "base/yaml.h"
#include "net/x509.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::testing_support {

namespace {

void add_folder(sys::Files& files, const std::string& folder, FileTree& tree) {
  const std::vector<std::string> names = files.list(folder.empty() ? "/" : folder).value();
  if (names.empty()) tree[folder + "/"] = {"", files.info(folder).value()->mode};
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    const sys::FileInfo info = *files.info(path).value();
    if (info.kind == sys::FileKind::directory) {
      add_folder(files, path, tree);
    } else {
      tree[path] = {files.read(path).value(), info.mode};
    }
  }
}

std::string name_text(const net::SubjectName& name) {
  std::string text = "CN=" + name.common_name;
  for (const std::string& each : name.organizations) text += ",O=" + each;
  for (const std::string& each : name.organizational_units) text += ",OU=" + each;
  return text;
}

std::string describe_certificate(const std::string& pem) {
  const Result<net::CertificateInfo> info = net::parse_certificate(pem);
  if (!info.ok()) return "CERTIFICATE that cannot be read: " + info.error().message();
  std::vector<std::string> says = {"CERTIFICATE " + name_text(info->subject), "issuer " + name_text(info->issuer)};
  if (info->is_ca) says.emplace_back("authority");
  if (info->server_auth) says.emplace_back("server");
  if (info->client_auth) says.emplace_back("client");
  says.push_back(join(info->key_usages, " + "));
  for (const std::string& name : info->dns_names) says.push_back("DNS:" + name);
  for (const std::string& address : info->ip_addresses) says.push_back("IP:" + address);
  says.push_back(fmt::format("{} h", std::chrono::duration_cast<std::chrono::hours>(info->not_after - info->not_before).count()));
  return join(says, "; ");
}

std::string describe_block(const std::string& pem) {
  if (pem.starts_with("-----BEGIN CERTIFICATE-----")) return describe_certificate(pem);
  return pem.starts_with("-----BEGIN PUBLIC KEY-----") ? "PUBLIC KEY" : "KEY";
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether a text starts with a pattern in which 9 matches any digit.
bool begins_like(std::string_view text, std::string_view shape) {
  if (text.size() < shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == '9' ? !is_digit(text[i]) : text[i] != shape[i]) return false;
  }
  return true;
}

std::string describe_text(const std::string& text);

// The length of a PEM block, a time, or seconds since 1970 after an @ at the start of a text; 0 for other texts.
std::size_t drawn_part(std::string_view text, std::string& said) {
  constexpr std::string_view second = "9999-99-99T99:99:99", epoch = "@9999999999", end_mark = "-----END ", dashes = "-----";
  if (text.starts_with("-----BEGIN ")) {
    const std::size_t end = text.find(end_mark);
    if (end == std::string_view::npos) return 0;
    const std::size_t length = text.find(dashes, end + end_mark.size()) + dashes.size();
    said = describe_text(describe_block(std::string(text.substr(0, length))));
    return length;
  }
  if (begins_like(text, second)) {
    const std::size_t end = text.find_first_not_of("0123456789.", second.size());
    if (end == std::string_view::npos || text[end] != 'Z') return 0;
    said = "TIME";
    return end + 1;
  }
  if (!begins_like(text, epoch) || (text.size() > epoch.size() && is_digit(text[epoch.size()]))) return 0;
  said = "@TIME";
  return epoch.size();
}

std::string describe_text(const std::string& text) {
  std::string result, said;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = drawn_part(std::string_view(text).substr(at), said);
    result += length == 0 ? std::string(1, text[at]) : said;
    at += std::max<std::size_t>(length, 1);
  }
  return result;
}

std::string describe_base64(std::string_view text) {
  const Result<std::string> decoded = base64_decode(text);
  return decoded.ok() ? describe_text(decoded.value()) : "no base64: " + std::string(text);
}

// "-----BEGIN CERTIFICATE" and similar in base64, as in kubeconfigs.
bool is_encoded_pem(std::string_view text) { return text.starts_with("LS0tLS1CRUdJTi"); }

Json describe_value(const Json& value) {
  if (value.is_string()) {
    const std::string text(value.as_string());
    return Json(is_encoded_pem(text) ? describe_base64(text) : describe_text(text));
  }
  if (value.is_array()) {
    JsonArray items;
    for (const Json& item : value.as_array()) items.push_back(describe_value(item));
    return items;
  }
  if (!value.is_object()) return value;
  const bool is_secret = find_string(value, {"kind"}) == "Secret";
  JsonObject members;
  for (const auto& [key, member] : value.as_object()) {
    if (is_secret && key == "data") {
      JsonObject data;
      for (const auto& [name, encoded] : find_object(value, {"data"})) data[name] = describe_base64(encoded.as_string());
      members[key] = std::move(data);
    } else {
      members[key] = describe_value(member);
    }
  }
  return members;
}

Json describe_content(const std::string& path, const std::string& content) {
  const Result<std::vector<YamlDocument>> documents = parse_yaml_documents(content, path);
  if (!documents.ok() || documents->empty()) return Json(describe_text(content));
  JsonArray all;
  for (const YamlDocument& document : documents.value()) {
    const Json& value = document.value;
    if (!value.is_object() && !value.is_array()) return Json(describe_text(content));
    if (find_string(value, {"kind"}) == "CustomResourceDefinition") {
      all.push_back(Json(fmt::format("CustomResourceDefinition {}, sha256 {}",
                                     find_string(value, {"metadata", "name"}).value_or(""), sha256_hex(content))));
    } else {
      all.push_back(describe_value(value));
    }
  }
  return all.size() == 1 ? all.front() : Json(all);
}

}  // namespace

FileTree read_tree(sys::Files& files, const std::string& folder) {
  FileTree tree;
  add_folder(files, folder == "/" ? "" : folder, tree);
  return tree;
}

void write_tree(sys::Files& files, const FileTree& tree) {
  for (const auto& [path, file] : tree) {
    const Result<> written = path.ends_with('/') ? files.make_directories(path.substr(0, path.size() - 1), file.mode)
                                                 : files.write(path, file.content, file.mode);
    EXPECT_TRUE(written.ok()) << written.error().message();
  }
}

JsonObject described(const FileTree& tree) {
  JsonObject files;
  for (const auto& [path, file] : tree) {
    JsonObject entry{{"mode", fmt::format("{:04o}", file.mode)}};
    if (!path.ends_with('/')) entry["content"] = describe_content(path, file.content);
    files[path] = std::move(entry);
  }
  return files;
}

}  // namespace slipway::testing_support
