// Messages about wrong configs, and unusual configs that are valid: tests/golden/configs. A file in wrong/ or odd/ names a good
// config as its base, and has cases. A case has `change` (pieces that occur once in the base, with their replacements), `add`
// (text to append) and `says` (all messages). ACCEPT=1 updates `says`: review the diff.
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
    EXPECT_EQ(text.find(piece, at + 1), std::string::npos) << "occurs twice: " << piece;
    text.replace(at, piece.size(), find_string(change.value(), {}).value_or(""));
  }
  return text + text_of(example, "add");
}

// Runs the cases of a file. With ACCEPT=1, writes the current messages to the file.
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
    const std::string messages = result.ok() ? result->warnings.to_text() : result.error().message() + "\n";
    EXPECT_EQ(result.ok(), !are_wrong) << title << "\n" << messages;
    EXPECT_EQ(messages.find("s3cret"), std::string::npos) << title << "\n" << messages;
    EXPECT_EQ(messages.find("c2VjcmV0"), std::string::npos) << title << "\n" << messages;
    EXPECT_TRUE(texts.insert(title).second) << "twice: " << title;
    if (!std::getenv("ACCEPT")) {
      EXPECT_EQ(messages, text_of(example, "says")) << title;
    }
    example.as_object()["says"] = messages;
  }
  if (std::getenv("ACCEPT")) {
    ASSERT_TRUE(std::ofstream(SLIPWAY_SOURCE "/tests/golden/" + name) << emit_yaml(table)) << name;
  }
}

TEST(WrongConfigs, HaveMessagesWithPlaceAndHint) {
  std::set<std::string> titles;
  for (const std::string& name : files_in("configs/wrong")) expect_cases(name, true, titles);
  EXPECT_GE(titles.size(), 100u);
}

TEST(WrongConfigs, UnusualConfigsAreAccepted) {
  std::set<std::string> titles;
  for (const std::string& name : files_in("configs/odd")) expect_cases(name, false, titles);
}

}  // namespace
}  // namespace slipway::config
