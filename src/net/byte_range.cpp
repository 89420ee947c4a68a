#include "net/byte_range.h"

#include "base/number.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

namespace slipway::net {

RangeRequest parse_range(std::string_view header, std::uint64_t size) {
  constexpr std::string_view unit = "bytes=";
  if (!header.starts_with(unit)) return {};
  header.remove_prefix(unit.size());
  const std::size_t dash = header.find('-');
  if (dash == std::string_view::npos) return {};
  const std::string_view from = header.substr(0, dash), to = header.substr(dash + 1);
  const auto first = parse_number<std::uint64_t>(from), last = parse_number<std::uint64_t>(to);
  if ((!from.empty() && !first) || (!to.empty() && !last) || (!first && !last)) return {};
  if (first && last && *last < *first) return {};
  const std::uint64_t begin = first ? *first : size - std::min(*last, size);
  const std::uint64_t end = first && last ? std::min(*last, size - std::min<std::uint64_t>(size, 1)) + 1 : size;
  if (begin >= size) return {.kind = RangeRequest::Kind::not_satisfiable};
  return {.kind = RangeRequest::Kind::part, .range = {begin, end - begin}};
}

std::vector<BodyPart> cut(const std::vector<BodyPart>& parts, const ByteRange& range) {
  std::vector<BodyPart> found;
  const std::uint64_t end = range.first + range.length;
  std::uint64_t begin = 0;
  for (const BodyPart& part : parts) {
    const std::uint64_t next = begin + part.length();
    const std::uint64_t from = std::max(begin, range.first), to = std::min(next, end);
    if (from < to && part.text) {
      found.push_back({.text = std::make_shared<const std::string>(part.text->substr(from - begin, to - from))});
    } else if (from < to) {
      found.push_back({.text = nullptr, .file = {part.file.path, part.file.offset + (from - begin), to - from}});
    }
    begin = next;
  }
  return found;
}

ServerAnswer ranged_answer(const ServerRequest& request, std::vector<BodyPart> parts, std::string_view entity_tag) {
  std::uint64_t size = 0;
  for (const BodyPart& part : parts) size += part.length();
  ServerAnswer answer{.headers = {{"ETag", std::string(entity_tag)}, {"Accept-Ranges", "bytes"}}};
  for (const std::string_view known : split(request.header("If-None-Match").value_or(""), ',')) {
    if (trim(known) != entity_tag && trim(known) != "*") continue;
    answer.status = 304;
    return answer;
  }
  const bool is_same = request.header("If-Range").value_or(entity_tag) == entity_tag;
  const RangeRequest range = parse_range(is_same ? request.header("Range").value_or("") : "", size);
  switch (range.kind) {
    case RangeRequest::Kind::whole: answer.parts = std::move(parts); return answer;
    case RangeRequest::Kind::not_satisfiable:
      answer.status = 416;
      answer.headers.push_back({"Content-Range", fmt::format("bytes */{}", size)});
      return answer;
    case RangeRequest::Kind::part: break;
  }
  const auto& [first, length] = range.range;
  answer.status = 206;
  answer.headers.push_back({"Content-Range", fmt::format("bytes {}-{}/{}", first, first + length - 1, size)});
  answer.parts = cut(parts, range.range);
  return answer;
}

}  // namespace slipway::net
