#include "components/controller/process_metrics.h"

#include "support/memory_files.h"
#include "support/test_context.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace slipway::components {
namespace {

using testing_support::RealTimeContext;

// Tests of several build folders may run at the same time.
std::string unique(std::string_view name) { return fmt::format("{}-{}", name, ::getpid()); }

TEST(SocketResponder, AnswersCommandsOneAfterTheOther) {
  const std::string name = "@slipway/test/" + unique("echo");
  {
    const auto socket = SocketResponder::listen(name, [](std::string_view line) { return fmt::format("<{}>", line); });
    ASSERT_TRUE(socket.ok()) << socket.error().message();
    for (const char* command : {"one", "two"}) {
      const Result<std::string> answer = send_socket_command(name, command, Milliseconds(5'000));
      ASSERT_TRUE(answer.ok()) << answer.error().message();
      EXPECT_EQ(answer.value(), fmt::format("<{}>", command));
    }
    EXPECT_EQ(SocketResponder::listen(name, {}).error().code(), Code::conflict);
  }
  EXPECT_EQ(send_socket_command(name, "gone", Milliseconds(1'000)).error().code(), Code::unavailable);
}

TEST(SocketResponder, SendsLongAnswers) {
  const std::string name = "@slipway/test/" + unique("long"), text(3'000'000, 'x');
  const auto socket = SocketResponder::listen(name, [&](std::string_view) { return text; });
  ASSERT_TRUE(socket.ok()) << socket.error().message();
  const Result<std::string> answer = send_socket_command(name, "all", Milliseconds(5'000));
  ASSERT_TRUE(answer.ok()) << answer.error().message();
  EXPECT_EQ(answer.value().size(), text.size());
}

TEST(SocketResponder, RefusesLongNames) {
  EXPECT_EQ(SocketResponder::listen("@" + std::string(120, 'x'), {}).error().code(), Code::invalid);
}

TEST(MetricsSockets, FindsEachListenerOnce) {
  EXPECT_EQ(metrics_sockets("Num       RefCount Protocol Flags    Type St Inode Path\n"
                            "0000000000000000: 00000002 00000000 00010000 0001 01 20 @slipway/metrics/dns-operator/b\n"
                            "0000000000000000: 00000003 00000000 00000000 0001 03 21 @slipway/metrics/dns-operator/b\n"
                            "0000000000000000: 00000002 00000000 00010000 0001 01 22 @slipway/metrics/cluster-etcd-operator/a\n"
                            "0000000000000000: 00000002 00000000 00010000 0001 01 23 @watch-termination/etcd\n"
                            "0000000000000000: 00000002 00000000 00010000 0001 01 24 /run/slipway/metrics/x\n"
                            "0000000000000000: 00000003 00000000 00000000 0001 03 25\n"),
            (std::vector<std::string>{"@slipway/metrics/cluster-etcd-operator/a", "@slipway/metrics/dns-operator/b"}));
}

TEST(ProcessMetrics, AreCollectedFromAllPrograms) {
  RealTimeContext test;
  const sys::Context context = test.context();
  sys::RealFiles files;
  const std::string one = unique("one-operator"), other = unique("other-operator");
  Metrics counts, other_counts;
  counts.add(Metric::reconciles, {{"controller", "one"}, {"result", "done"}}, 7);
  const auto offered = offer_metrics(context, files, counts, one, std::string(200, 'p'), "1.2");
  const auto other_offered = offer_metrics(context, files, other_counts, other, "pod", "1.3");
  ASSERT_TRUE(offered && other_offered);
  const std::string text = collect_metrics(context, files);
  const auto has = [&](const std::string& line) { return text.find(line) != std::string::npos; };
  EXPECT_TRUE(has(fmt::format("slipway_reconciles_total{{program=\"{}\",controller=\"one\",result=\"done\"}} 7\n", one))) << text;
  EXPECT_TRUE(has(fmt::format("slipway_build_info{{program=\"{}\",version=\"1.3\"}} 1\n", other))) << text;
  EXPECT_TRUE(has(fmt::format("slipway_memory_bytes{{program=\"{}\"}} ", one))) << text;
  EXPECT_TRUE(has(fmt::format("slipway_cpu_seconds_total{{program=\"{}\"}} ", one))) << text;
  EXPECT_EQ(text.find("# TYPE slipway_build_info"), text.rfind("# TYPE slipway_build_info"));
}

TEST(ProcessMetrics, ANameInUseIsNoFailure) {
  RealTimeContext test;
  const sys::Context context = test.context();
  testing_support::MemoryFiles files;
  Metrics metrics;
  const std::string program = unique("twice-operator");
  const auto first = offer_metrics(context, files, metrics, program, "pod", "1");
  EXPECT_TRUE(first);
  EXPECT_FALSE(offer_metrics(context, files, metrics, program, "pod", "1"));
  const std::vector<std::string> lines = test.logged();
  const auto is_warning = [](const std::string& line) { return line.find("metrics are not offered") != std::string::npos; };
  EXPECT_TRUE(std::ranges::any_of(lines, is_warning));
}

}  // namespace
}  // namespace slipway::components
