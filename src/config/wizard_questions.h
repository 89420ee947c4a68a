// The questions of the wizard as one table. Private to wizard.cpp.
#pragma once

#include <string_view>
#include <vector>

namespace slipway::config {

// A field that an answer sets. `field` and `value` are templates; their placeholders are names of questions.
struct Fill {
  std::string_view field;
  std::string_view value;
};

struct QuestionRow {
  std::string_view platforms{};  // "baremetal|vsphere"; empty: all platforms
  std::string_view name;
  std::string_view words;
  std::string_view fallback{};
  std::vector<Fill> fills{};
  bool is_secret = false;
  bool is_optional = false;
  bool is_of_host = false;  // asked for each host; {{INDEX}} is its number, from 0
};

// Names of questions that the wizard treats in a special way.
inline constexpr std::string_view ssh_key_question = "SSH_KEY";
inline constexpr std::string_view platform_question = "PLATFORM";
inline constexpr std::string_view pull_secret_question = "PULL_SECRET";
inline constexpr std::string_view hosts_question = "HOSTS";  // the number of hosts

inline constexpr std::string_view no_ssh_key = "none";  // an answer to ssh_key_question

// All questions, in the order in which the wizard asks them.
const std::vector<QuestionRow>& question_rows();

}  // namespace slipway::config
