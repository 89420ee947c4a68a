// CommandTest: runs commands of `slipway` in this process, with files in memory.
//
//   ASSERT_TRUE(run({"analyze", "/b"}).ok());
//   EXPECT_EQ(printed, ...);
#pragma once

#include "cli/parse.h"

#include "net/curl_http.h"
#include "support/memory_files.h"
#include "support/seeded_random.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace slipway::testing_support {

class CommandTest : public testing::Test {
 protected:
  Result<> run(const std::vector<std::string>& argv) {
    const cli::Parsed parsed = cli::parse("slipway", argv, cli::commands());
    if (!parsed.invocation) return error(Code::invalid, "{}", parsed.text);
    status = 0;
    return parsed.invocation->command->run(environment(), parsed.invocation->arguments);
  }

  cli::Environment environment() {
    return {{context_, files, runner_, random_, http_, [this](std::string_view text) { printed += text; }}, status};
  }

  MemoryFiles files;
  TestContext test;
  std::string printed;  // output of all runs
  int status = 0;       // exit status of the last run

 private:
  sys::Context context_ = test.context();
  sys::RealRunner runner_;
  SeededRandom random_{1};
  net::CurlHttp http_;
};

}  // namespace slipway::testing_support
