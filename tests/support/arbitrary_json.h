// Random JSON documents for property tests (rapidcheck): every kind of value, and strings that are difficult to write.
#pragma once

#include "base/json.h"

#include <rapidcheck.h>

#include <string>
#include <utility>
#include <vector>

namespace slipway::testing_support {

inline rc::Gen<std::string> arbitrary_text() {
  return rc::gen::oneOf(
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("aZ09 -:#'\"\\\n\t.,[]{}&*!|>%@`~=<?_/+\x01\x7f"))),
      rc::gen::element<std::string>("", "true", "No", "null", "~", "0777", "1e3", "-1", ".5", "0x1f", "1:20", "2026-11-21",
                                    " lead", "trail ", "- x", "a: b", "a #b", "---", "...", "\n", "x\n\n", "\nx", "x\n y\n",
                                    "é\xc2\x85\xe2\x80\xa8", "\xef\xbb\xbf", "<<", "=", "|", "a\r\nb", "\xf0\x9f\x9a\xa2"));
}

// Sizes are scaled down: writers fail on combinations of values, not on the number of values.
inline rc::Gen<Json> arbitrary_json(int depth = 3) {
  auto leaf = rc::gen::oneOf(
      rc::gen::map(rc::gen::arbitrary<std::int64_t>(), [](std::int64_t n) { return Json(n); }),
      rc::gen::map(rc::gen::inRange(-1000000, 1000000), [](int n) { return Json(n / 64.0 + 0.015625); }),
      rc::gen::map(arbitrary_text(), [](const std::string& s) { return Json(s); }),
      rc::gen::element<Json>(nullptr, true, false, std::uint64_t(18446744073709551615u), JsonArray(), JsonObject()));
  if (depth == 0) return leaf;
  auto array = rc::gen::map(rc::gen::scale(0.25, rc::gen::container<std::vector<Json>>(arbitrary_json(depth - 1))),
                            [](const std::vector<Json>& items) { return Json(JsonArray(items.begin(), items.end())); });
  auto object = rc::gen::map(rc::gen::scale(0.25, rc::gen::container<std::vector<std::pair<std::string, Json>>>(rc::gen::pair(
                                                      rc::gen::scale(10, arbitrary_text()), arbitrary_json(depth - 1)))),
                             [](const std::vector<std::pair<std::string, Json>>& members) {
                               JsonObject result;
                               for (const auto& [key, value] : members) result.emplace(key, value);
                               return Json(std::move(result));
                             });
  return rc::gen::oneOf(leaf, array, object);
}

}  // namespace slipway::testing_support
