#include "components/router/culprits.h"

#include <optional>

namespace slipway::components::router {

namespace {

constexpr std::size_t most = 20;

}  // namespace

Result<std::vector<std::pair<Route, std::string>>> find_culprits(
    std::vector<Route> routes, const std::function<Result<>(const std::vector<Route>&)>& check) {
  // What is wrong with the first so many of them.
  const auto problem = [&](std::size_t count) -> Result<std::optional<std::string>> {
    const Result<> taken = check({routes.begin(), routes.begin() + static_cast<std::ptrdiff_t>(count)});
    std::optional<std::string> words;
    if (taken.ok()) return words;
    if (taken.error().code() != Code::invalid) return taken.error();
    words = taken.error().message();
    return words;
  };
  std::vector<std::pair<Route, std::string>> culprits;
  for (;;) {
    std::optional<std::string> words = TRY(problem(routes.size()));
    if (!words) return culprits;
    const std::optional<std::string> without = TRY(problem(0));
    if (without) return error(Code::invalid, "haproxy rejects its configuration even without routes: {}", *without);
    if (culprits.size() == most) return error(Code::invalid, "haproxy rejects more than {} routes: {}", most, *words);
    std::size_t good = 0, bad = routes.size();
    while (bad - good > 1) {
      const std::size_t middle = good + (bad - good) / 2;
      std::optional<std::string> said = TRY(problem(middle));
      if (!said) {
        good = middle;
      } else {
        bad = middle;
        words = std::move(said);
      }
    }
    culprits.emplace_back(std::move(routes[bad - 1]), *std::move(words));
    routes.erase(routes.begin() + static_cast<std::ptrdiff_t>(bad - 1));
  }
}

}  // namespace slipway::components::router
