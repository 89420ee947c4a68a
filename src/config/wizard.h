// Creates an install-config from answers to questions, for users who have no file. Pure: cli/ask.h does the input and output.
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

// An SSH public key for logging in to machines.
struct PublicKey {
  std::string path;  // of its file
  std::string line;
};

struct Question {
  std::string name;                    // "CLUSTER_NAME"; with an index if it is asked for each host: "HOST_NAME_2"
  std::string words;                   // "Cluster name"
  std::string fallback{};              // the default; empty if there is none
  std::vector<std::string> choices{};  // the answer is one of these or its number; any answer if empty
  bool is_secret = false;
  bool is_optional = false;  // the answer may be empty
};

// A value.
class Wizard {
 public:
  // keys: the choices for the SSH key. Invalid keys are skipped. Without valid keys, the question is not asked.
  explicit Wizard(std::vector<PublicKey> keys);

  // The next question; nothing if all are answered.
  std::optional<Question> next() const;

  // Answers next(). The answer must follow the rules of install-config for the fields that it sets.
  // errors: invalid: a sentence or several lines; next() returns the same question again
  Result<> answer(std::string_view text);

  // The answers so far, as YAML.
  std::string install_config() const;

 private:
  std::vector<PublicKey> keys_;
  std::map<std::string, std::string, std::less<>> answers_;  // by name of the question
};

}  // namespace slipway::config
