#include "base/check.h"
#include "base/text.h"
#include "net/ip.h"
#include "net/openssl.h"

#include <algorithm>

namespace slipway::net {

namespace {

Result<> add_part(X509_NAME* name, int kind, const std::string& text) {
  if (text.empty() || !is_utf8(text) || text.find('\0') != std::string::npos) {
    return error(Code::invalid, "'{}' is not allowed in the subject of a certificate", to_utf8(text));
  }
  // Not MBSTRING_UTF8, which enforces X.520's limit of 64 characters: names of service accounts can be longer.
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (X509_NAME_add_entry_by_NID(name, kind, V_ASN1_UTF8STRING, bytes, static_cast<int>(text.size()), -1, 0) != 1) {
    return problem(Code::internal, "writing a subject");
  }
  return Ok{};
}

void add_alternative(GENERAL_NAMES* names, int kind, int string_type, std::string_view bytes) {
  ASN1_STRING* text = ASN1_STRING_type_new(string_type);
  GENERAL_NAME* name = GENERAL_NAME_new();
  CHECK(text != nullptr && name != nullptr);
  CHECK(ASN1_STRING_set(text, bytes.data(), static_cast<int>(bytes.size())) == 1);
  GENERAL_NAME_set0_value(name, kind, text);
  CHECK(sk_GENERAL_NAME_push(names, name) > 0);
}

std::string_view view(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)), static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::optional<std::string> ip_text(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const unsigned value = static_cast<unsigned char>(bytes[i]);
    if (bytes.size() == 4) text += fmt::format("{}{}", i == 0 ? "" : ".", value);
    if (bytes.size() == 16) text += fmt::format("{}{:02x}", i == 0 || i % 2 != 0 ? "" : ":", value);
  }
  const Result<IpAddress> address = parse_ip(text);
  return address.ok() ? std::optional(to_string(address.value())) : std::nullopt;
}

}  // namespace

Result<Name> make_name(const SubjectName& subject) {
  Name name(X509_NAME_new());
  for (const std::string& organization : subject.organizations) TRY(add_part(name.get(), NID_organizationName, organization));
  for (const std::string& unit : subject.organizational_units) TRY(add_part(name.get(), NID_organizationalUnitName, unit));
  if (!subject.common_name.empty()) TRY(add_part(name.get(), NID_commonName, subject.common_name));
  return name;
}

Result<SubjectName> read_name(const X509_NAME* name) {
  SubjectName subject;
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    unsigned char* bytes = nullptr;
    const int size = ASN1_STRING_to_UTF8(&bytes, X509_NAME_ENTRY_get_data(entry));
    if (size < 0) return problem(Code::invalid, "a name cannot be read");
    const Bytes<unsigned char> owner(bytes);
    std::string text(reinterpret_cast<char*>(bytes), static_cast<std::size_t>(size));
    switch (OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry))) {
      case NID_commonName: subject.common_name = std::move(text); break;  // the last of several, as in Go
      case NID_organizationName: subject.organizations.push_back(std::move(text)); break;
      case NID_organizationalUnitName: subject.organizational_units.push_back(std::move(text)); break;
      default: break;
    }
  }
  return subject;
}

Result<Names> make_alternatives(const std::vector<std::string>& dns_names, const std::vector<std::string>& ip_addresses) {
  Names names(GENERAL_NAMES_new());
  for (const std::string& name : dns_names) {
    if (name.empty() || std::ranges::any_of(name, [](char c) { return c <= ' ' || c == '\x7f'; })) {
      return error(Code::invalid, "'{}' is not a DNS name", to_utf8(name));
    }
    add_alternative(names.get(), GEN_DNS, V_ASN1_IA5STRING, name);
  }
  for (const std::string& text : ip_addresses) {
    const IpAddress address = TRY(parse_ip(text));
    const auto* bytes = reinterpret_cast<const char*>(address.bytes().data());
    add_alternative(names.get(), GEN_IPADD, V_ASN1_OCTET_STRING, {bytes, address.is_v4() ? 4u : 16u});
  }
  return names;
}

Result<AlternativeNames> read_alternatives(const STACK_OF(X509_EXTENSION) * extensions) {
  AlternativeNames found;
  int critical = -1;
  const Names names(static_cast<GENERAL_NAMES*>(X509V3_get_d2i(extensions, NID_subject_alt_name, &critical, nullptr)));
  if (!names) {
    if (critical != -1) return problem(Code::invalid, "the alternative names cannot be read");
    return found;
  }
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    int kind = 0;
    const void* value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), i), &kind);
    const bool is_text = kind == GEN_DNS || kind == GEN_IPADD;
    const std::string_view bytes = is_text ? view(static_cast<const ASN1_STRING*>(value)) : std::string_view();
    std::optional<std::string> address = kind == GEN_IPADD ? ip_text(bytes) : std::nullopt;
    if (kind == GEN_DNS) {
      found.dns.emplace_back(bytes);
    } else if (address) {
      found.ip.push_back(*address);
    } else {
      found.others = true;
    }
  }
  return found;
}

}  // namespace slipway::net
