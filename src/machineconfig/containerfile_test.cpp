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
      "FROM configs AS final\nRUN <<EOF\nFROM nothing\nnot an instruction\nEOF\nRUN <<-'A' cat && <<B cat\n x\n A\ny\nB\nUSER "
      "root\n",
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
       "a.yaml:2:1: error: content: the here-document <<EOF has no end (add a line with EOF)\n"},
      {"FROM configs AS final\n" + std::string(4096, '#'),
       "a.yaml:1:1: error: content: has 4118 characters, the longest Containerfile has 4096 (put long scripts into an image, and "
       "copy them "
       "from there with COPY --from)\n"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(problems(text), expected) << text;
}

}  // namespace
}  // namespace slipway::machineconfig
