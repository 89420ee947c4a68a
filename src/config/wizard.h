// The questions whose answers make an install-config, for users who have none. Pure: cli/ask.h asks them.
//
//   Wizard wizard(keys);
//   while (const auto question = wizard.next()) { ... wizard.answer(line) ... }
//   write(wizard.install_config());
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::config {

// A public key for logging in to machines, and where it was found.
struct PublicKey {
  std::string path;
  std::string line;
};

struct Question {
  std::string name;                    // "CLUSTER_NAME"; with an index where it is asked several times: "HOST_NAME_2"
  std::string words;                   // "Cluster name"
  std::string fallback{};              // the answer when nothing is typed; there is none when it is empty
  std::vector<std::string> choices{};  // one of these, by its number or itself; anything when empty
  bool is_secret = false;
  bool is_optional = false;  // nothing is an answer
};

// A value.
class Wizard {
 public:
  // keys: that may be chosen, those that are none left out; without any the question is left out
  explicit Wizard(std::vector<PublicKey> keys);

  // Nothing when all were asked.
  std::optional<Question> next() const;

  // To next(). The rules are those of the file: what they say of the fields that the answer fills in.
  // errors: invalid, a sentence or several lines; the question stays
  Result<> answer(std::string_view text);

  // What was answered so far, as YAML.
  std::string install_config() const;

 private:
  std::vector<PublicKey> keys_;
  std::map<std::string, std::string, std::less<>> answers_;  // by the names of questions
};

}  // namespace slipway::config
