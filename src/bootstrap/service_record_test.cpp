#include "bootstrap/service_record.h"

#include "base/text.h"
#include "support/fake_clock.h"
#include "support/memory_files.h"

#include <gtest/gtest.h>

namespace slipway::bootstrap {
namespace {

using sys::Phase;
using testing_support::FakeClock;
using testing_support::MemoryFiles;

constexpr const char* path = "/var/log/openshift/bootkube.json";

struct Recorded {
  MemoryFiles files;
  FakeClock clock;
  std::vector<std::string> failures;
  ServiceRecord record{files, clock, path, [this](const Error& why) { failures.push_back(why.message()); }};

  // "phase stage result message", one entry a line.
  std::string text() {
    const Json entries = parse_json(files.read(path).value(), path).value();
    std::string lines;
    for (const Json& entry : entries.as_array()) {
      std::vector<std::string> words;
      for (const char* member : {"phase", "stage", "result", "errorMessage"}) {
        if (const auto value = find_string(entry, {member})) words.emplace_back(*value);
      }
      lines += join(words, ", ") + "\n";
    }
    return lines;
  }
};

TEST(ServiceRecord, HasStagesAndTheServiceItself) {
  Recorded recorded;
  sys::Events events(recorded.clock, "bootstrap");
  events.add_sink(recorded.record.sink());
  recorded.record.start();
  events.emit({.kind = "stage", .name = "openshift-manifests", .phase = Phase::skipped});
  events.emit({.kind = "stage", .name = "etcd-bootstrap", .phase = Phase::started});
  events.emit({.kind = "machine", .name = "m0", .phase = Phase::started});
  events.emit({.kind = "stage", .name = "etcd-bootstrap", .phase = Phase::finished, .duration = Milliseconds(5)});
  events.emit({.kind = "stage", .name = "check-api-url", .phase = Phase::started});
  events.emit(
      {.kind = "check", .name = "check-api-url", .phase = Phase::failed, .error = Error(Code::unavailable, "no address")});
  events.emit({.kind = "stage", .name = "check-api-url", .phase = Phase::finished, .duration = Milliseconds(5)});
  events.emit({.kind = "stage", .name = "cb-bootstrap", .phase = Phase::started});
  events.emit({.kind = "stage", .name = "cb-bootstrap", .phase = Phase::failed, .error = Error(Code::timeout, "no pods")});
  recorded.record.end(error(Code::timeout, "stage cb-bootstrap: no pods"));
  EXPECT_EQ(recorded.text(),
            "service start\n"
            "stage start, etcd-bootstrap\n"
            "stage end, etcd-bootstrap, success\n"
            "stage start, check-api-url\n"
            "stage end, check-api-url, failure, no address\n"
            "stage start, cb-bootstrap\n"
            "stage end, cb-bootstrap, failure, no pods\n"
            "service end, failure, stage cb-bootstrap: no pods\n");
  EXPECT_TRUE(recorded.files.read(path).value().starts_with(R"([{"timestamp":"2026-11-21T09:30:00Z","phase":"service start"},)"));
}

TEST(ServiceRecord, GoesOnAfterARestart) {
  Recorded recorded;
  recorded.record.start();
  ServiceRecord again(recorded.files, recorded.clock, path, [](const Error&) { FAIL(); });
  again.start();
  again.end(Ok{});
  EXPECT_EQ(recorded.text(), "service start\nservice start\nservice end, success\n");
}

TEST(ServiceRecord, BeginsAnewWhenItCannotBeRead) {
  Recorded recorded;
  ASSERT_TRUE(recorded.files.write(path, "[{\"half", 0644).ok());
  recorded.record.start();
  EXPECT_EQ(recorded.text(), "service start\n");
}

TEST(ServiceRecord, TellsOnceThatItCannotBeWritten) {
  Recorded recorded;
  ASSERT_TRUE(recorded.files.make_directories(path, 0755).ok());
  recorded.record.start();
  recorded.record.end(Ok{});
  EXPECT_EQ(recorded.failures.size(), 1U);
}

}  // namespace
}  // namespace slipway::bootstrap
