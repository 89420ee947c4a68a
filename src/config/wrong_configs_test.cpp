// What people read of wrong configs, and that odd ones are taken: tests/golden/configs. A file in wrong/ or odd/ names a good
// config as its base and has cases: what each changes in the text of the base (a piece that stands there once, and what comes in
// its place), what it adds at the end, and all that is said then. ACCEPT=1 writes what is said anew: review the diff.
#include "base/yaml.h"
#include "config/install_config.h"
#include "support/golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace slipway::config {
namespace {

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(SLIPWAY_SOURCE "/tests/golden/" + folder)) {
    names.push_back(folder + "/" + entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string text_of(const Json& value, std::string_view key) { return std::string(find_string(value, {key}).value_or("")); }

std::string changed(std::string text, const Json& example) {
  for (const auto& change : find_object(example, {"change"})) {
    const std::string_view piece(change.key());
    const std::size_t at = text.find(piece);
    EXPECT_NE(at, std::string::npos) << piece;
    if (at == std::string::npos) continue;
    EXPECT_EQ(text.find(piece, at + 1), std::string::npos) << "stands twice: " << piece;
    text.replace(at, piece.size(), find_string(change.value(), {}).value_or(""));
  }
  return text + text_of(example, "add");
}

// Runs a file's cases; with ACCEPT=1 the file is written with what is said now.
void expect_cases(const std::string& name, bool are_wrong, std::set<std::string>& texts) {
  const auto file = parse_yaml(testing_support::golden(name), name);
  ASSERT_TRUE(file.ok()) << file.error().message();
  Json table = file->value;
  const std::string base = testing_support::golden("configs/good/" + text_of(table, "base") + ".yaml");
  const auto loaded = load_install_config(base, "install-config.yaml");
  ASSERT_TRUE(loaded.ok()) << name << "\n" << loaded.error().message();
  for (Json& example : table.as_object().at("cases").as_array()) {
    const std::string title = name + ": " + text_of(example, "case");
    const auto result = load_install_config(changed(base, example), "install-config.yaml");
    const std::string said = result.ok() ? result->warnings.to_text() : result.error().message() + "\n";
    EXPECT_EQ(result.ok(), !are_wrong) << title << "\n" << said;
    EXPECT_EQ(said.find("s3cret"), std::string::npos) << title << "\n" << said;
    EXPECT_EQ(said.find("c2VjcmV0"), std::string::npos) << title << "\n" << said;
    EXPECT_TRUE(texts.insert(title).second) << "twice: " << title;
    if (!std::getenv("ACCEPT")) {
      EXPECT_EQ(said, text_of(example, "says")) << title;
    }
    example.as_object()["says"] = said;
  }
  if (std::getenv("ACCEPT")) {
    ASSERT_TRUE(std::ofstream(SLIPWAY_SOURCE "/tests/golden/" + name) << emit_yaml(table)) << name;
  }
}

TEST(WrongConfigs, SayWhatIsWrongWhereAndWhatToWrite) {
  std::set<std::string> titles;
  for (const std::string& name : files_in("configs/wrong")) expect_cases(name, true, titles);
  EXPECT_GE(titles.size(), 100u);
}

TEST(WrongConfigs, OddOnesAreTaken) {
  std::set<std::string> titles;
  for (const std::string& name : files_in("configs/odd")) expect_cases(name, false, titles);
}

}  // namespace
}  // namespace slipway::config
