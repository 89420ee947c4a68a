#include "cluster/machine_table.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

Json table(std::string rows) {
  return {{"kind", "ConfigMap"},
          {"metadata", {{"name", "machine-addresses"}, {"namespace", "openshift-config"}}},
          {"data", {{"machines", std::move(rows)}}}};
}

TEST(MachineTable, IsWrittenAsItIsRead) {
  const Json as_installed = table(R"([{"name":"master-0","role":"master","addresses":["10.97.77.11"]},)"
                                  R"({"name":"worker-0","role":"worker","addresses":["10.97.77.14","w0"]}])");
  const auto rows = machine_rows(as_installed);
  ASSERT_TRUE(rows.ok()) << rows.error().message();
  EXPECT_EQ(rows.value(),
            (std::vector<MachineRow>{{"master-0", "master", {"10.97.77.11"}}, {"worker-0", "worker", {"10.97.77.14", "w0"}}}));
  EXPECT_EQ(with_machine_rows(as_installed, rows.value()), as_installed);
  EXPECT_EQ(names_with_role(rows.value(), "worker"), std::vector<std::string>{"worker-0"});
  EXPECT_EQ(find_string(with_machine_rows(as_installed, {}), {"data", "machines"}), "[]");
}

TEST(MachineTable, SaysWhatIsWrongWithIt) {
  for (const char* rows : {"no list", "{}", R"([{"name":"a"}])"}) {
    const auto read = machine_rows(table(rows));
    ASSERT_FALSE(read.ok()) << rows;
    EXPECT_EQ(read.error().code(), Code::invalid);
    EXPECT_TRUE(read.error().message().starts_with("ConfigMap openshift-config/machine-addresses:")) << read.error().message();
  }
  EXPECT_FALSE(machine_rows({{"kind", "ConfigMap"}}).ok());
}

}  // namespace
}  // namespace slipway::cluster
