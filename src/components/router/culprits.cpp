#include "components/router/culprits.h"

#include <optional>

namespace slipway::components::router {

namespace {

constexpr std::size_t max_culprits = 20;

}  // namespace

Result<std::vector<std::pair<Route, std::string>>> find_culprits(
    std::vector<Route> routes, const std::function<Result<>(const std::vector<Route>&)>& check) {
  // haproxy's message about the first `count` routes; nothing: it accepts them.
  const auto problem = [&](std::size_t count) -> Result<std::optional<std::string>> {
    const Result<> taken = check({routes.begin(), routes.begin() + static_cast<std::ptrdiff_t>(count)});
    std::optional<std::string> message;
    if (taken.ok()) return message;
    if (taken.error().code() != Code::invalid) return taken.error();
    message = taken.error().message();
    return message;
  };
  std::vector<std::pair<Route, std::string>> culprits;
  for (;;) {
    std::optional<std::string> message = TRY(problem(routes.size()));
    if (!message) return culprits;
    const std::optional<std::string> without = TRY(problem(0));
    if (without) return error(Code::invalid, "haproxy rejects its configuration even without routes: {}", *without);
    if (culprits.size() == max_culprits)
      return error(Code::invalid, "haproxy rejects more than {} routes: {}", max_culprits, *message);
    std::size_t good = 0, bad = routes.size();
    while (bad - good > 1) {
      const std::size_t middle = good + (bad - good) / 2;
      std::optional<std::string> middle_message = TRY(problem(middle));
      if (!middle_message) {
        good = middle;
      } else {
        bad = middle;
        message = std::move(middle_message);
      }
    }
    culprits.emplace_back(std::move(routes[bad - 1]), *std::move(message));
    routes.erase(routes.begin() + static_cast<std::ptrdiff_t>(bad - 1));
  }
}

}  // namespace slipway::components::router
