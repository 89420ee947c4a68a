// Answers to requests for a part of a body (RFC 9110, 13 and 14). Pure.
#pragma once

#include "net/http_server.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace slipway::net {

// A part of a body.
struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t length = 0;

  bool operator==(const ByteRange&) const = default;
};
struct RangeRequest {
  enum class Kind { whole, part, not_satisfiable };
  Kind kind = Kind::whole;
  ByteRange range{};

  bool operator==(const RangeRequest&) const = default;
};

// "bytes=0-99", "bytes=100-", "bytes=-100". Headers of another form, with other units or with several ranges have no effect, as
// RFC 9110 14.2 allows.
RangeRequest parse_range(std::string_view header, std::uint64_t size);

// The part of a body with this range, which must be inside of it.
std::vector<BodyPart> cut(const std::vector<BodyPart>& parts, const ByteRange& range);

// An answer with the whole body, the part of the header Range (206), nothing because the client has it (304, If-None-Match), or
// 416. If-Range with another entity tag asks for the whole body.
//
//   entity_tag  with quotes; changes with every byte of the body
ServerAnswer ranged_answer(const ServerRequest& request, std::vector<BodyPart> parts, std::string_view entity_tag);

}  // namespace slipway::net
