// slipway-operator, the program in the images of the embedded release: every operator, server and render command of it,
// chosen by the name it is called by.
#include "operators/version/image.h"
#include "sys/files.h"

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace slipway;

using Arguments = std::vector<std::string>;

struct Program {
  std::string_view name;     // of the file that was called
  std::string_view command;  // its first argument
  std::string_view usage;
  Result<> (*run)(const Arguments& arguments);  // what comes after the command
};

Result<> version_image(const Arguments& arguments) {
  if (arguments.size() != 1) return error(Code::invalid, "usage: cluster-version-operator image NAME");
  sys::RealFiles files;
  const std::string image = TRY(operators::image_of_component(files, "", arguments[0]));
  // Without a newline: scripts paste it as it is (operators 2.9).
  std::fputs(image.c_str(), stdout);
  return Ok{};
}

constexpr std::array<Program, 1> programs = {{
    {"cluster-version-operator", "image", "NAME", version_image},
}};

int usage() {
  fmt::print(stderr, "This program is many; call it by one of these names:\n");
  for (const Program& program : programs) fmt::print(stderr, "  {} {} {}\n", program.name, program.command, program.usage);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view path = argv[0];
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  if (argc < 2) return usage();
  for (const Program& program : programs) {
    if (program.name != name || program.command != argv[1]) continue;
    const Result<> result = program.run({argv + 2, argv + argc});
    if (result.ok()) return 0;
    fmt::print(stderr, "{}: {}\n", name, result.error().message());
    return 1;
  }
  return usage();
}
