// Loading never crashes and always gives the same result, whatever the config contains.
#include "base/yaml.h"
#include "config/install_config.h"
#include "support/golden.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <set>

namespace slipway::config {
namespace {

constexpr unsigned mutants_each = 150;

class Mutations {
 public:
  explicit Mutations(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }

  // Changes one to three values at random places.
  Json mutant(Json value) {
    for (std::size_t changes = 1 + below(3); changes > 0; --changes) change(value);
    return value;
  }

 private:
  Json odd_value() {
    static const Json values[] = {nullptr,
                                  true,
                                  0,
                                  -1,
                                  2147483647,
                                  1.5,
                                  "",
                                  "x",
                                  "-1",
                                  "10.0.0.0/8",
                                  "fd00::/8",
                                  "192.0.2.300",
                                  "://",
                                  "\xc3\xa9\n",
                                  JsonArray(),
                                  JsonArray{nullptr},
                                  JsonArray{"x", "x", "x"},
                                  JsonArray{JsonObject()},
                                  JsonArray{JsonArray()},
                                  JsonObject(),
                                  JsonObject{{"x", nullptr}}};
    return values[below(std::size(values))];
  }

  // Descends to a random depth and changes a value there.
  void change(Json& value) {
    if (JsonObject* members = value.if_object(); members && !members->empty()) {
      const auto member = members->begin() + static_cast<std::ptrdiff_t>(below(members->size()));
      if (below(4) > 0) return change(member->value());
      if (below(2) > 0) {
        members->erase(member);
      } else {
        member->value() = odd_value();
      }
    } else if (JsonArray* items = value.if_array(); items && !items->empty()) {
      const std::size_t index = below(items->size());
      if (below(4) > 0) return change((*items)[index]);
      const Json copy = (*items)[index];
      items->insert(items->begin(), below(2) > 0 ? copy : odd_value());
    } else {
      value = odd_value();
    }
  }

  std::mt19937 random_;
};

// Returns whether the text was loaded.
bool expect_total(const std::string& text) {
  const auto once = load_install_config(text, "c");
  const auto twice = load_install_config(text, "c");
  EXPECT_EQ(once.ok(), twice.ok()) << text;
  if (!once.ok() || !twice.ok()) {
    EXPECT_EQ(once.ok() ? "" : once.error().message(), twice.ok() ? "" : twice.error().message()) << text;
    return false;
  }
  EXPECT_EQ(once->warnings, twice->warnings) << text;
  const auto again = load_install_config(emit_yaml(once->config.effective), "c");
  EXPECT_TRUE(again.ok()) << text << again.error().message();
  if (again.ok()) {
    EXPECT_EQ(again->config.effective, once->config.effective) << text;
  }
  return true;
}

TEST(MutatedConfigs, LoadWithTheSameResultEveryTime) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(SLIPWAY_SOURCE "/tests/golden/configs/good")) {
    names.insert(entry.path().filename().string());
  }
  unsigned seed = 1;
  std::size_t loaded = 0;
  for (const std::string& name : names) {
    const auto file = parse_yaml(testing_support::golden("configs/good/" + name), name);
    ASSERT_TRUE(file.ok()) << file.error().message();
    SCOPED_TRACE(fmt::format("{}, seed {}", name, seed));
    Mutations mutations(seed++);
    for (unsigned i = 0; i < mutants_each; ++i) loaded += expect_total(emit_yaml(mutations.mutant(file->value))) ? 1 : 0;
  }
  // The mutants include both valid and invalid configs.
  EXPECT_GT(loaded, names.size() * mutants_each / 20);
  EXPECT_LT(loaded, names.size() * mutants_each / 2);
}

}  // namespace
}  // namespace slipway::config
