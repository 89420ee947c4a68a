#include "machineconfig/containerfile.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace slipway::machineconfig {
namespace {

std::string problems(const std::string& text) {
  Findings findings;
  check_containerfile(
      text, "content",
      [](int line) {
        return Place{"a.yaml", line, 1};
      },
      findings);
  return findings.to_text();
}

TEST(Containerfile, AcceptsWhatABuildAccepts) {
  const std::vector<std::string> texts = {
      "FROM configs AS final\n",
      "from configs as final\nrun echo a",
      "FROM configs\n",
      "# a comment\n\nFROM configs AS final\nRUN apt-get update && \\\n    # why\n\n    apt-get install --yes tcpdump\n",
      "# syntax=docker/dockerfile:1\n# escape=`\nFROM configs AS final\nRUN echo `\n  b\n",
      "ARG VERSION=1\nFROM registry.example.com/tools:${VERSION} AS tools\nFROM configs AS final\nCOPY --from=tools /a "
      "/usr/bin/a\n",
      "FROM configs AS base\nRUN true\nFROM base AS final\nLABEL a=b c d\nENV A=b c\n",
      "FROM --platform=linux/amd64 configs AS final\nRUN [\"/bin/true\"]\nONBUILD RUN true\n",
      "FROM configs AS final\nRUN <<EOF\nFROM nothing\nnot an instruction\n EOF\nEOF\nRUN <<-'A' cat && 3<<B cat\n "
      "x\n\tA\ny\nB\nUSER "
      "root\n",
      "FROM configs AS final\nONBUILD RUN <<END-OF-FILE\nFROM nothing\nEND-OF-FILE\r\n",
      "FROM\tconfigs\tAS\tfinal\nRUN echo $((1<<n)) \"a <<b c\" 'd <<e'\n",
      "FROM configs AS final\nCOPY <<\"END\" /etc/motd\nhello\nEND\n",
      "FROM configs AS final\nRUN cat <<<word\n",
  };
  for (const std::string& text : texts) EXPECT_EQ(problems(text), "") << text;
}

TEST(Containerfile, ReportsEachProblemWithItsLine) {
  const std::string last =
      ": the last stage is not built on the stage configs, so it is not the system of the release (begin the last "
      "stage with FROM configs AS final)\n";
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"", "a.yaml:1:1: error: content: has no FROM (begin with FROM configs AS final)\n"},
      {"FROM debian\n", "a.yaml:1:1: error: content" + last},
      {"FROM configs AS a\nFROM debian AS b\nRUN true\n", "a.yaml:2:1: error: content" + last},
      {"FROM debian AS configs\nFROM configs AS final\n", "a.yaml:2:1: error: content" + last},
      {"FROM configs AS final\nRUNN true\n", "a.yaml:2:1: error: content: unknown instruction runn (did you mean run?)\n"},
      {"FROM configs AS final\n\nCOPY\n", "a.yaml:3:1: error: content: copy has no arguments\n"},
      {"RUN true\nFROM configs AS final\n", "a.yaml:1:1: error: content: run before the first FROM\n"},
      {"FROM configs AS final\nRUN <<EOF\ntrue\n",
       "a.yaml:2:1: error: content: the here-document <<EOF has no end (end it with a line that has only EOF)\n"},
      {"FROM configs AS final\nRUN <<EOF\ntrue\n  EOF\n",
       "a.yaml:2:1: error: content: the here-document <<EOF has no end (end it with a line that has only EOF)\n"},
      {"FROM configs AS final\n" + std::string(4096, '#'),
       "a.yaml:1:1: error: content: has 4118 characters, the longest Containerfile has 4096 (put long scripts into an image, and "
       "copy them "
       "from there with COPY --from)\n"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(problems(text), expected) << text;
}

TEST(Containerfile, KeepsWhatMustComeFirst) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"FROM configs AS final\nARG A=1\n", ""},
      {"# syntax=docker/dockerfile:1\n# about it\nFROM configs AS final\n", ""},
      {"arg A=1\nARG B=${A} \\\n  C=2\nFROM a:${A} AS tools\nARG D\nFROM configs\n", "ARG A=1\nARG B=${A}  C=2\n"},
      {"# syntax=docker/dockerfile:1\n# escape=`\nARG A=1`\n  B=2\nFROM configs\n", "# escape=`\nARG A=1 B=2\n"},
      {"", ""},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(lines_for_the_beginning(text), expected) << text;
}

}  // namespace
}  // namespace slipway::machineconfig
