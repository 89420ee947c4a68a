#include "node/os_build/podman.h"

#include "base/text.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

TEST(PodmanCommands, UseTheFilesOfTheBuild) {
  const Podman podman{.storage = "/storage"};
  EXPECT_EQ(
      join(build_command(podman, {.folder = "/b", .tag = "r.example.com/os:master-1"}), " "),
      "podman --root=/storage --runroot=/run/slipway-os-build build --isolation=chroot --network=host --pull=newer --layers "
      "--format=oci --force-rm --identity-label=false --tag=r.example.com/os:master-1 --file=/b/Containerfile /b");
  const std::vector<std::string> all = build_command({.storage = "/storage", .has_vfs = true}, {.folder = "/b",
                                                                                                .tag = "r.example.com/os:1",
                                                                                                .logins = "/l.json",
                                                                                                .authorities = "/t/ca",
                                                                                                .policy = "/t/policy.json",
                                                                                                .has_cache = false});
  EXPECT_EQ(join(all, " "),
            "podman --root=/storage --runroot=/run/slipway-os-build --storage-driver=vfs build --isolation=chroot --network=host "
            "--pull=newer --layers --format=oci --force-rm --identity-label=false --tag=r.example.com/os:1 "
            "--file=/b/Containerfile --no-cache --authfile=/l.json --cert-dir=/t/ca --signature-policy=/t/policy.json /b");
  EXPECT_EQ(join(export_arguments("r.example.com/os:1", "/out/oci.new", "master-1", ""), " "),
            "push --format=oci --remove-signatures r.example.com/os:1 oci:/out/oci.new:master-1");
}

TEST(PodmanImages, OnlyEarlierResultsOfThePoolAreNotNeeded) {
  const std::vector<StoredImage> images = parse_images(
      "sha256:1 r.example.com/os:worker-a1\nsha256:2 r.example.com:5000/os:worker-b2\n\n3 other.example.com/x:worker-c3\n"
      "sha256:4 r.example.com/os:worker-gpu-d4\nsha256:5 <none>:<none>\nbroken\n");
  ASSERT_EQ(images.size(), 5u);
  EXPECT_EQ(images[1], (StoredImage{"2", "r.example.com:5000/os:worker-b2"}));
  EXPECT_EQ(images[2].id, "3");
  EXPECT_EQ(earlier_results(images, "worker", "r.example.com:5000/os:worker-b2"),
            (std::vector<std::string>{"r.example.com/os:worker-a1", "other.example.com/x:worker-c3"}));
  EXPECT_EQ(earlier_results(images, "worker-gpu", "r.example.com/os:worker-gpu-e5"),
            std::vector<std::string>{"r.example.com/os:worker-gpu-d4"});
  EXPECT_EQ(earlier_results(images, "master", "r.example.com/os:master-1"), std::vector<std::string>());
}

TEST(PodmanFailures, AreClassifiedByTheirLastLines) {
  const std::string step = "STEP 2/2: RUN program";
  const std::string exit = "Error: building at STEP \"RUN program\": while running runtime: exit status 100";
  const std::string pull = "Error: creating build container: initializing source docker://r.example.com/os:1: ";
  const struct {
    std::vector<std::string> output;
    Code code;
    std::string reason;
  } rows[] = {
      {{}, Code::invalid, "podman failed without a message"},
      {{step, "E: Unable to locate package nothing", exit}, Code::invalid, "exit status 100"},
      {{step, "Err:1 http://deb.example.com trixie InRelease", "  Temporary failure resolving 'deb.example.com'", exit},
       Code::unavailable,
       "exit status 100"},
      {{step, "curl: (7) Failed to connect to 192.0.2.1 port 80: Connection refused", exit},
       Code::unavailable,
       "exit status 100"},
      {{step, "E: Failed to fetch http://deb.example.com/x.deb  503  Service Unavailable [IP: 192.0.2.1 80]", exit},
       Code::unavailable,
       "exit status 100"},
      {{step, "dpkg: error: failed to write: No space left on device", exit}, Code::conflict, "exit status 100"},
      // As podman 5.4 writes it in a chroot.
      {{step, "curl: (7) Failed to connect to 127.0.0.1 port 9 after 0 ms: Could not connect to server",
        "subprocess exited with status 7", "subprocess exited with status 7",
        "Error: building at STEP \"RUN program\": exit status 7"},
       Code::unavailable,
       "exit status 7"},
      // Lines of earlier steps do not count.
      {{"STEP 1/2: RUN first", "Temporary failure resolving 'x'", step, exit}, Code::invalid, "exit status 100"},
      {{pull + "reading manifest 1 in r.example.com/os: manifest unknown"}, Code::invalid, ""},
      {{pull + "reading manifest 1 in r.example.com/os: unauthorized: authentication required"}, Code::denied, ""},
      {{pull + "reading manifest 1 in r.example.com/os: denied: requested access to the resource is denied"}, Code::denied, ""},
      {{pull + "pinging container registry r.example.com: Get \"https://r.example.com/v2/\": dial tcp: lookup r.example.com: no "
               "such host"},
       Code::unavailable,
       ""},
      {{pull + "reading manifest 1: toomanyrequests: You have reached your pull rate limit"}, Code::unavailable, ""},
      {{pull + "fetching blob: received unexpected HTTP status: 503 Service Unavailable"}, Code::unavailable, ""},
      {{pull + "Get \"https://r.example.com/v2/\": net/http: TLS handshake timeout"}, Code::unavailable, ""},
      {{"Error: committing container: write /var/lib/containers/storage/overlay/x: no space left on device"}, Code::conflict, ""},
      {{"Error: building at STEP \"COPY nothing /\": checking on sources: copier: stat: \"/nothing\": no such file or directory"},
       Code::invalid,
       ""},
      {{"signal: killed"}, Code::invalid, "signal: killed"},
  };
  for (const auto& row : rows) {
    const PodmanFailure failure = classify_failure(row.output);
    const std::string name = row.output.empty() ? "" : row.output.back();
    EXPECT_EQ(to_string(failure.code), to_string(row.code)) << name;
    EXPECT_EQ(failure.reason, row.reason.empty() ? name.substr(7) : row.reason) << name;
  }
}

TEST(PodmanFailures, AreExplainedWithTheLineOfTheUser) {
  const std::string containerfile =
      "FROM base AS configs\nCOPY root/ /\nFROM configs AS final\nRUN one && \\\n  two\nRUN three\n";
  const auto explain = [&](const std::vector<std::string>& output) {
    return explain_failure(classify_failure(output), containerfile, 3, output).message();
  };
  const std::string end = "Error: building at STEP \"RUN x\": while running runtime: exit status 2";
  EXPECT_EQ(explain({"[2/2] STEP 2/3: RUN one &&   two", "1", "2", "", "3", "4", "5", "6", end}),
            "line 2 of the Containerfile (RUN one && two): exit status 2; its last output: 2 | 3 | 4 | 5 | 6");
  EXPECT_EQ(explain({"[2/2] STEP 3/3: RUN three", "subprocess exited with status 2", end}),
            "line 4 of the Containerfile (RUN three): exit status 2");
  EXPECT_EQ(explain({"[1/2] STEP 2/2: COPY root/ /", "Error: building at STEP \"COPY root/ /\": nothing"}),
            "a step before those of the Containerfile (COPY root/ /): building at STEP \"COPY root/ /\": nothing");
  EXPECT_EQ(explain({"Error: no policy.json"}), "no policy.json");
}

}  // namespace
}  // namespace slipway::node
