#include "bootstrap/containers.h"

#include "base/text.h"
#include "support/test_context.h"
#include "sys/task_group.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>

namespace slipway::bootstrap {
namespace {

using testing_support::RealTimeContext;

const Container sample{.name = "etcd-render",
                       .image = "r.example.com/x@sha256:1",
                       .program = "/usr/bin/etcd-operator",
                       .arguments = {"render", "--a=b"},
                       .mounts = {{"/opt/openshift", "/assets", true}, {"/opt/frozen", "/assets/manifests"}}};

TEST(ContainerCommand, IsWhatEachRuntimeTakes) {
  EXPECT_EQ(join(command_of(Runtime::containerd, sample), " "),
            "ctr --namespace k8s.io run --rm --net-host --mount type=bind,src=/opt/openshift,dst=/assets,options=rbind:rw "
            "--mount type=bind,src=/opt/frozen,dst=/assets/manifests,options=rbind:ro r.example.com/x@sha256:1 etcd-render "
            "/usr/bin/etcd-operator render --a=b");
  EXPECT_EQ(join(command_of(Runtime::podman, sample), " "),
            "podman run --quiet --net=host --rm --replace --name etcd-render --user=0 --authfile=/root/.docker/config.json "
            "--volume /opt/openshift:/assets:rw,z --volume /opt/frozen:/assets/manifests:ro,z r.example.com/x@sha256:1 "
            "/usr/bin/etcd-operator render --a=b");
}

TEST(ContainerCommand, HandsOnVariables) {
  Container container = sample;
  container.environment = {"CLUSTER_PROFILE=x"};
  for (const Runtime runtime : {Runtime::containerd, Runtime::podman}) {
    EXPECT_NE(join(command_of(runtime, container), " ").find(" --env CLUSTER_PROFILE=x r.example.com/x@sha256:1 "),
              std::string::npos);
  }
}

TEST(ContainerCommand, LeavesTheEntryPointToPodmanOnly) {
  Container container = sample;
  container.is_entry_point = true;
  EXPECT_EQ(command_of(Runtime::podman, container)[command_of(Runtime::podman, container).size() - 2], "render");
  EXPECT_EQ(join(command_of(Runtime::podman, container), " ").find("/usr/bin/etcd-operator"), std::string::npos);
  EXPECT_NE(join(command_of(Runtime::containerd, container), " ").find("/usr/bin/etcd-operator"), std::string::npos);
}

// Answers by the words after "ctr --namespace k8s.io", or by the whole command; runs call a hook.
class FakeCtr final : public sys::Runner {
 public:
  Result<sys::Output> run(const sys::Context&, const sys::Command& command) override {
    const int prefix = command.argv.front() == "ctr" ? 3 : 0;
    const std::string line = join({command.argv.begin() + prefix, command.argv.end()}, " ");
    lines.with_lock([&](auto& all) { all.push_back(line); });
    if (line.starts_with("run ") && on_run) on_run(line);
    const auto answer = answers.find(line);
    if (answer == answers.end()) return sys::Output{};
    if (command.on_line) {
      for (const std::string_view said : split(answer->second.err, '\n')) command.on_line(sys::Stream::err, said);
      command.on_line(sys::Stream::out, answer->second.out);
    }
    return answer->second;
  }

  std::map<std::string, sys::Output> answers;
  std::function<void(const std::string&)> on_run;
  Guarded<std::vector<std::string>> lines;
};

std::vector<std::string> lines_of(const FakeCtr& ctr) {
  return ctr.lines.with_lock([](const auto& all) { return all; });
}

TEST(Containers, PullsWhatIsMissingOnce) {
  RealTimeContext test;
  FakeCtr ctr;
  ctr.answers["images ls --quiet"] = {.out = "r.example.com/other@sha256:2\n", .err = ""};
  Containers containers(Runtime::containerd, ctr, 1);
  ASSERT_TRUE(containers.run(test.context(), sample, 0).ok());
  ASSERT_TRUE(containers.run(test.context(), sample, 0).ok());
  const std::vector<std::string> lines = lines_of(ctr);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], "images ls --quiet");
  EXPECT_EQ(lines[1], "slipway-pull-image r.example.com/x@sha256:1");
  EXPECT_TRUE(lines[2].starts_with("run ") && lines[3].starts_with("run "));
}

TEST(Containers, FailureHasTheLastWordsOfTheProgram) {
  RealTimeContext test;
  FakeCtr ctr;
  ctr.answers["images ls --quiet"] = {.out = sample.image + "\n", .err = ""};
  const std::vector<std::string> command = command_of(Runtime::containerd, sample);
  ctr.answers[join({command.begin() + 3, command.end()}, " ")] = {.status = 255, .out = "", .err = "F1121 no FeatureGate\n"};
  Containers containers(Runtime::containerd, ctr, 1);
  const Result<> result = containers.run(test.context(), sample, 0);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message().find("no FeatureGate"), std::string::npos) << result.error().message();
}

TEST(Containers, TellsWhatAProgramSaysWhileItRuns) {
  RealTimeContext test;
  FakeCtr ctr;
  ctr.answers["images ls --quiet"] = {.out = sample.image + "\n", .err = ""};
  const std::vector<std::string> command = command_of(Runtime::containerd, sample);
  ctr.answers[join({command.begin() + 3, command.end()}, " ")] = {.out = "not this", .err = "one\ntwo"};
  Containers containers(Runtime::containerd, ctr, 1);
  std::vector<std::string> lines;
  ASSERT_TRUE(containers.run(test.context(), sample, 0, [&](std::string_view line) { lines.emplace_back(line); }).ok());
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
}

TEST(Containers, RemovesWhatAKilledRunLeft) {
  RealTimeContext test;
  FakeCtr ctr;
  ctr.answers["tasks ls"] = {.out = "TASK         PID    STATUS\netcd-render    12    RUNNING\nother-render 13 RUNNING\n",
                             .err = ""};
  ctr.answers["containers ls"] = {.out = "CONTAINER IMAGE RUNTIME\netcd-render r io.containerd.runc.v2\n", .err = ""};
  ctr.answers["snapshots ls"] = {.out = "KEY PARENT KIND\ncvo-render sha256:9 Active\n", .err = ""};
  Containers containers(Runtime::containerd, ctr, 1);
  ASSERT_TRUE(containers.remove_leftovers(test.context(), {"etcd-render", "cvo-render"}).ok());
  EXPECT_EQ(lines_of(ctr), (std::vector<std::string>{"tasks ls", "tasks rm --force etcd-render", "containers ls",
                                                     "containers rm etcd-render", "snapshots ls", "snapshots rm cvo-render"}));
}

TEST(Containers, RunsSomeAtOnceAndNoMore) {
  RealTimeContext test;
  FakeCtr ctr;
  ctr.answers["images ls --quiet"] = {.out = sample.image + "\n", .err = ""};
  std::atomic<int> running = 0, most = 0;
  ctr.on_run = [&](const std::string&) {
    most = std::max(most.load(), ++running);
    for (int i = 0; i < 2000; ++i) std::this_thread::yield();
    --running;
  };
  Containers containers(Runtime::containerd, ctr, 2);
  Result<> result = sys::for_each_at_once(test.context(), 12, 12, [&](const sys::Context& context, std::size_t i) {
    return containers.run(context, sample, static_cast<int>(i));
  });
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_LE(most, 2);
}

TEST(Containers, WaitingEndsWithAStop) {
  RealTimeContext test;
  FakeCtr ctr;
  Containers containers(Runtime::containerd, ctr, 0);
  test.stop.request_stop();
  const Result<> result = containers.run(test.context(), sample, 0);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Code::cancelled);
}

}  // namespace
}  // namespace slipway::bootstrap
