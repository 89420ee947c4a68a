// Golden files: compares the output of a test with a file below tests/golden. With ACCEPT=1 in the environment, the file is
// written and the test is skipped: review the diff.
//
// A test that includes this header defines SLIPWAY_SOURCE, the folder of the sources.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace slipway::testing_support {

// name: below tests/golden, "assets/local.yaml"
inline std::string golden(const std::string& name) {
  std::stringstream text;
  text << std::ifstream(SLIPWAY_SOURCE "/tests/golden/" + name).rdbuf();
  return text.str();
}

inline void expect_golden(const std::string& name, const std::string& text) {
  if (std::getenv("ACCEPT")) {
    const std::string path = SLIPWAY_SOURCE "/tests/golden/" + name;
    ASSERT_TRUE(std::ofstream(path) << text) << "cannot write " << path;
    GTEST_SKIP() << "wrote " << path;
  }
  EXPECT_EQ(text, golden(name)) << "ACCEPT=1 writes tests/golden/" << name;
}

}  // namespace slipway::testing_support
