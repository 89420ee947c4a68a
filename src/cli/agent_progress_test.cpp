#include "cli/agent_progress.h"

#include <gtest/gtest.h>

namespace slipway::cli {
namespace {

Json json(std::string_view text) { return parse_json(text, "test").value(); }

TEST(AgentProgress, EventsBecomeLines) {
  EXPECT_EQ(progress_lines(json(R"([{"severity": "info", "message": "a"}, {"severity": "warning", "message": "b"},
                                    {"severity": "critical", "message": "c"}])")),
            (std::vector<ProgressLine>{{Level::info, "a"}, {Level::warn, "b"}, {Level::error, "c"}}));
  EXPECT_TRUE(progress_lines(json("{}")).empty());
}

TEST(AgentProgress, AFailureNamesTheHosts) {
  EXPECT_EQ(installation_failure(json(R"({"status": "installing", "hosts": [{"status": "error"}]})")), std::nullopt);
  EXPECT_EQ(installation_failure(json(R"({"status": "error", "status_info": "Too few hosts", "hosts": [
                {"requested_hostname": "m0", "status": "error", "status_info": "no disk"},
                {"requested_hostname": "m1", "status": "installed", "status_info": "fine"}]})")),
            "the cluster is error: Too few hosts; host m0: no disk");
  EXPECT_EQ(installation_failure(json(R"({"status": "cancelled", "status_info": "by a user"})")),
            "the cluster is cancelled: by a user");
}

}  // namespace
}  // namespace slipway::cli
