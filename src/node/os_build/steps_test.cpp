#include "node/os_build/steps.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

const std::string containerfile =
    "ARG VERSION=1\n"                    // 1
    "FROM base AS configs\n"             // 2
    "COPY root/ /\n"                     // 3
    "# a comment\n"                      // 4
    "FROM configs AS final\n"            // 5
    "RUN <<END\n"                        // 6
    "false\n"                            // 7
    "END\n"                              // 8
    "RUN apt-get update && \\\n"         // 9
    "  apt-get install --yes strace\n";  // 10

TEST(Steps, AreNumberedAsPodmanDoes) {
  std::vector<std::string> numbers;
  for (const Step& step : steps_of(containerfile)) {
    numbers.push_back(fmt::format("{}.{} {} line {}", step.stage, step.number, step.instruction.name, step.instruction.line));
  }
  const std::vector<std::string> expected = {"1.1 from line 2", "1.2 copy line 3", "2.1 from line 5", "2.2 run line 6",
                                             "2.3 run line 9"};
  EXPECT_EQ(numbers, expected);
}

TEST(Steps, TheLastOneIsInTheOutput) {
  const struct {
    std::vector<std::string> output;
    int line;  // 0: none
  } rows[] = {
      {{}, 0},
      {{"Error: no such image"}, 0},
      {{"[1/2] STEP 1/2: FROM base AS configs", "[1/2] STEP 2/2: COPY root/ /"}, 3},
      {{"[2/2] STEP 3/3: RUN apt-get update &&   apt-get install --yes strace", "E: Unable to locate package", "Error: building"},
       9},
      {{"[2/2] STEP 2/3: RUN <<END", "a STEP 1/3: of a program", "[x] STEP 1/1: of a program", "STEP x"}, 6},
      {{"STEP 2/2: COPY root/ /"}, 3},  // one stage has no number
      {{"[2/2] STEP 4/4: LABEL added by podman"}, 0},
  };
  const std::vector<Step> steps = steps_of(containerfile);
  for (const auto& row : rows) {
    const Step* step = last_step(steps, row.output);
    EXPECT_EQ(step ? step->instruction.line : 0, row.line) << (row.output.empty() ? "" : row.output[0]);
  }
}

}  // namespace
}  // namespace slipway::node
