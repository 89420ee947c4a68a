#include "provider/local/process_id.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace slipway::provider::local {
namespace {

TEST(ProcessId, StartIsField22WhateverTheProgramIsCalled) {
  const std::string tail = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 98765 20 21";
  for (const std::string& name : {std::string("(sh)"), std::string("(a b)"), std::string("(x) S 1 (")}) {
    EXPECT_EQ(start_of_stat("77 " + name + ")" + tail).value(), 98765u) << name;
  }
  for (const std::string& text : {std::string(), std::string("77"), std::string("77 (sh)"), std::string("77 (sh) S 1 2")}) {
    EXPECT_EQ(start_of_stat(text).error().code(), Code::invalid) << text;
  }
}

TEST(ProcessId, TextReadsBack) {
  const ProcessId process{4711, 18446744073709551615u, "5f0c"};
  EXPECT_EQ(parse_process_id(to_text(process), "owner.json").value(), process);
  for (const std::string text : {"{\"pid\":0,\"start\":1,\"boot\":\"\"}", "{\"pid\":1,\"start\":-1,\"boot\":\"\"}",
                                 "{\"pid\":1,\"start\":1.5,\"boot\":\"\"}", "{\"pid\":4294967297,\"start\":1,\"boot\":\"\"}"}) {
    const Result<ProcessId> read = parse_process_id(text, "owner.json");
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().message(), "owner.json: needs pid, start and boot of a process");
  }
}

TEST(ProcessId, FindsAProcessAndNotItsSuccessor) {
  sys::RealFiles files;
  ProcessId self = identify(files, "/proc", "self").value();
  EXPECT_EQ(self.pid, ::getpid());
  EXPECT_TRUE(open_process(files, self)->has_value());
  ++self.start;
  EXPECT_FALSE(open_process(files, self)->has_value());
}

}  // namespace
}  // namespace slipway::provider::local
