// Runs src/ignition for test_ignition.py:
//
//   ignition_tool parse FILE            the config as slipway writes it; findings go to standard error
//   ignition_tool validate FILE         findings only
//   ignition_tool merge PARENT CHILD... the merged config
//   ignition_tool translate FILE 3.2.0  the config in another version
//
// Exits with 1 if there are errors.
#include "ignition/merge.h"
#include "ignition/translate.h"
#include "ignition/validate.h"

#include <cstdio>
#include <fstream>
#include <iterator>

namespace {

using namespace slipway;

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return error(Code::not_found, "{} cannot be read", path);
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

Result<ignition::Config> read_config(const std::string& path) {
  ignition::Parsed parsed = TRY(ignition::read_config(TRY(read_file(path)), path));
  std::fputs(parsed.findings.to_text().c_str(), stderr);
  return std::move(parsed.config);
}

void print(const ignition::Config& config) {
  std::fputs(emit_json(ignition::to_json(config), JsonStyle::pretty).c_str(), stdout);
}

Result<> run(const std::vector<std::string>& arguments) {
  const std::string& command = arguments.at(0);
  if (command == "parse") {
    const ignition::Parsed parsed = TRY(ignition::parse_text(TRY(read_file(arguments.at(1))), arguments.at(1)));
    TRY(parsed.findings.to_result());
    std::fputs(parsed.findings.to_text().c_str(), stderr);
    print(parsed.config);
  } else if (command == "validate") {
    TRY(read_config(arguments.at(1)));
  } else if (command == "merge") {
    ignition::Config merged = TRY(read_config(arguments.at(1)));
    for (std::size_t i = 2; i < arguments.size(); ++i) merged = ignition::merge(merged, TRY(read_config(arguments[i])));
    print(merged);
  } else if (command == "translate") {
    const auto target = ignition::find_version(arguments.at(2));
    if (!target) return error(Code::invalid, "'{}' is not a version", arguments[2]);
    print(TRY(ignition::translate(TRY(read_config(arguments.at(1))), *target)));
  } else {
    return error(Code::invalid, "'{}' is not a command", command);
  }
  return Ok{};
}

}  // namespace

int main(int argc, char** argv) {
  const auto done = run({argv + 1, argv + argc});
  if (done.ok()) return 0;
  std::fprintf(stderr, "%s\n", done.error().message().c_str());
  return 1;
}
