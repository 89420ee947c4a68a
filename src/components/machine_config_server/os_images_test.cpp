#include "components/machine_config_server/os_images.h"

#include "base/digest.h"
#include "base/json.h"
#include "components/machine_config_server/bootstrap.h"
#include "components/machine_config_server/server.h"
#include "release/digest.h"

#include "support/memory_files.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::components::machine_config_server {
namespace {

constexpr std::string_view manifest_type = "application/vnd.oci.image.manifest.v1+json";
constexpr std::string_view index_type = "application/vnd.oci.image.index.v1+json";

class OsImagesTest : public testing::Test {
 protected:
  OsImagesTest() {
    layer = put_blob("master", "layer of the image");
    config = put_blob("master", R"({"architecture":"amd64"})");
    manifest =
        put_blob("master", fmt::format(R"({{"schemaVersion":2,"mediaType":"{}","config":{{}},"layers":[]}})", manifest_type));
    put_image("master", "registry.example.com/team/os", manifest);
  }

  std::string put_blob(const std::string& pool, std::string_view bytes) {
    const std::string hex = sha256_hex(bytes);
    (void)files.write("/images/" + pool + "/oci/blobs/sha256/" + hex, bytes, 0644);
    return "sha256:" + hex;
  }

  void put_image(const std::string& pool, const std::string& repository, const std::string& digest) {
    machineconfig::OsImage image;
    image.build = {.name = pool + "-1",
                   .pool = pool,
                   .rendered = "rendered-" + pool + "-1",
                   .base_image = "registry.example.com/release/os@sha256:" + std::string(64, '3'),
                   .repository = repository,
                   .registry = repository.substr(0, repository.find('/')),
                   .containerfile = ""};
    image.digest = digest;
    (void)files.write("/images/" + pool + "/image.json", emit_json(machineconfig::to_json(image), JsonStyle::pretty), 0644);
  }

  net::ServerAnswer get(const std::string& path, std::vector<net::Header> headers = {}, const std::string& method = "GET",
                        std::string_view login = "slipway:0123456789abcdef") {
    if (!login.empty()) headers.push_back({"Authorization", "Basic " + base64_encode(login)});
    return server.answer({.method = method, .path = path, .query = "", .headers = headers, .body = "", .peer = "10.0.0.9"});
  }

  static std::string error_code(const net::ServerAnswer& answer) {
    EXPECT_EQ(net::find_header(answer.headers, "Content-Type"), "application/json");
    const Json body = parse_json(*answer.body, "answer").value();
    const auto errors = find_array(body, {"errors"});
    EXPECT_EQ(errors.size(), 1u);
    return std::string(find_string(errors.at(0), {"code"}).value_or(""));
  }

  testing_support::TestContext test;
  const sys::Context context = test.context();
  testing_support::MemoryFiles files;
  RenderedFolder rendered{files, "/base", "/kubeconfig", "/images"};
  OsImages images{files, "/images", Secret("0123456789abcdef")};
  ConfigServer server{context, rendered, {Secret("0123456789abcdef"), Secret("fedcba9876543210")}, &images};
  std::string layer, config, manifest;
};

TEST_F(OsImagesTest, ServesAnImageByDigest) {
  const net::ServerAnswer ping = get("/v2/");
  EXPECT_EQ(ping.status, 200);
  EXPECT_EQ(net::find_header(ping.headers, "Docker-Distribution-Api-Version"), "registry/2.0");
  const net::ServerAnswer top = get("/v2/team/os/manifests/" + manifest);
  ASSERT_EQ(top.status, 200) << *top.body;
  EXPECT_EQ(net::find_header(top.headers, "Content-Type"), manifest_type);
  EXPECT_EQ(net::find_header(top.headers, "Docker-Content-Digest"), manifest);
  EXPECT_EQ(net::find_header(top.headers, "Connection"), "close");
  EXPECT_EQ(release::Digest::of(*top.body).text(), manifest);
  for (const std::string& digest : {layer, config, manifest}) {
    const net::ServerAnswer blob = get("/v2/team/os/blobs/" + digest);
    ASSERT_EQ(blob.status, 200);
    EXPECT_EQ(net::find_header(blob.headers, "Docker-Content-Digest"), digest);
    EXPECT_EQ(net::find_header(blob.headers, "Accept-Ranges"), "bytes");
    ASSERT_TRUE(blob.file.has_value()) << "blobs are not read into memory";
    EXPECT_EQ(blob.file->path, "/images/master/oci/blobs/sha256/" + digest.substr(7));
    EXPECT_EQ(blob.file->offset, 0u);
    EXPECT_EQ(blob.file->length, files.read(blob.file->path)->size());
  }
}

TEST_F(OsImagesTest, ServesPartsOfBlobs) {
  const std::uint64_t size = std::string_view("layer of the image").size();
  const net::ServerAnswer rest = get("/v2/team/os/blobs/" + layer, {{"Range", "bytes=6-"}});
  EXPECT_EQ(rest.status, 206);
  EXPECT_EQ(net::find_header(rest.headers, "Content-Range"), fmt::format("bytes 6-{}/{}", size - 1, size));
  EXPECT_EQ(rest.file->offset, 6u);
  EXPECT_EQ(rest.file->length, size - 6);
  const net::ServerAnswer behind = get("/v2/team/os/blobs/" + layer, {{"Range", fmt::format("bytes={}-", size)}});
  EXPECT_EQ(behind.status, 416);
  EXPECT_EQ(net::find_header(behind.headers, "Content-Range"), fmt::format("bytes */{}", size));
}

TEST_F(OsImagesTest, RefusesEverythingElse) {
  const std::string hex = manifest.substr(7), absent = "sha256:" + std::string(64, '0');
  struct Case {
    std::string path;
    int status;
    std::string code;
    std::string method = "GET";
  };
  (void)files.write("/images/master/secret", "secret", 0600);
  for (const Case& c : {
           Case{"/v2/team/os/manifests/latest", 404, "MANIFEST_UNKNOWN"},
           Case{"/v2/team/os/manifests/" + absent, 404, "MANIFEST_UNKNOWN"},
           Case{"/v2/team/os/manifests/" + config, 404, "MANIFEST_UNKNOWN"},
           Case{"/v2/team/os/manifests/" + layer, 404, "MANIFEST_UNKNOWN"},
           Case{"/v2/team/os/blobs/" + absent, 404, "BLOB_UNKNOWN"},
           Case{"/v2/team/os/blobs/" + hex, 400, "DIGEST_INVALID"},
           Case{"/v2/team/os/blobs/sha256:" + std::string(hex).replace(0, 1, "A"), 400, "DIGEST_INVALID"},
           Case{"/v2/team/os/blobs/sha256:../../../secret", 404, "BLOB_UNKNOWN"},
           Case{"/v2/team/os/blobs/../../secret", 404, "BLOB_UNKNOWN"},
           Case{"/v2/team/os/blobs/..", 400, "DIGEST_INVALID"},
           Case{"/v2/team/os/manifests/sha256:../../../image.json", 404, "MANIFEST_UNKNOWN"},
           Case{"/v2/../master/blobs/" + layer, 404, "BLOB_UNKNOWN"},
           Case{"/v2/team/os/../os/blobs/" + layer, 404, "BLOB_UNKNOWN"},
           Case{"/v2/registry.example.com/team/os/blobs/" + layer, 404, "BLOB_UNKNOWN"},
           Case{"/v2/team/other/manifests/" + manifest, 404, "MANIFEST_UNKNOWN"},
           Case{"/v2//blobs/" + layer, 404, "BLOB_UNKNOWN"},
           Case{"/v2/blobs/" + layer, 404, "BLOB_UNKNOWN"},
           Case{"/v2/team/os/tags/list", 404, "BLOB_UNKNOWN"},
           Case{"/v2/_catalog", 404, "BLOB_UNKNOWN"},
           Case{"/v2/team/os/blobs/uploads/", 405, "UNSUPPORTED", "POST"},
           Case{"/v2/team/os/manifests/" + manifest, 405, "UNSUPPORTED", "DELETE"},
       }) {
    const net::ServerAnswer answer = get(c.path, {}, c.method);
    EXPECT_EQ(answer.status, c.status) << c.path;
    EXPECT_FALSE(answer.file.has_value()) << c.path;
    EXPECT_EQ(error_code(answer), c.code) << c.path;
  }
}

TEST_F(OsImagesTest, OnlyTheTokenOfTheControlPlaneGivesAccess) {
  const std::string path = "/v2/team/os/blobs/" + layer;
  for (const char* login : {"", "slipway:fedcba9876543210", "slipway:0123456789abcdeF", "slipway:", "Slipway:0123456789abcdef",
                            "0123456789abcdef", "slipway:0123456789abcdef0"}) {
    for (const std::string& each : {path, std::string("/v2/"), std::string("/v2/absent")}) {
      const net::ServerAnswer answer = get(each, {}, "GET", login);
      EXPECT_EQ(answer.status, 401) << login;
      EXPECT_FALSE(answer.file.has_value());
      EXPECT_EQ(net::find_header(answer.headers, "WWW-Authenticate"), "Basic realm=\"slipway\"");
      EXPECT_EQ(error_code(answer), "UNAUTHORIZED");
    }
  }
  EXPECT_EQ(get(path, {{"Authorization", "Bearer 0123456789abcdef"}}, "GET", "").status, 401);
  EXPECT_EQ(get(path, {{"Authorization", "Basic ?"}}, "GET", "").status, 401);
  EXPECT_EQ(get(path).status, 200);
}

// Clients of registries ask without a login first.
TEST_F(OsImagesTest, ReportsWrongLoginsOnceASecond) {
  for (int i = 0; i < 3; ++i) (void)get("/v2/", {}, "GET", "");
  EXPECT_TRUE(test.events().empty());
  for (int i = 0; i < 5; ++i) (void)get("/v2/", {}, "GET", "slipway:guess");
  EXPECT_EQ(test.event_lines(), std::vector<std::string>{"config-request /v2/ failed"});
  for (const std::string& line : test.logged()) EXPECT_EQ(line.find("guess"), std::string::npos) << line;
}

TEST_F(OsImagesTest, ServesThePartsOfAnIndex) {
  const std::string index =
      put_blob("arbiter",
               fmt::format(R"({{"schemaVersion":2,"mediaType":"{}","manifests":[{{"mediaType":"{}","digest":"{}","size":{}}}]}})",
                           index_type, manifest_type, manifest, 1));
  put_image("arbiter", "registry.example.com/team/arbiter", index);
  (void)put_blob("arbiter", *get("/v2/team/os/manifests/" + manifest).body);
  EXPECT_EQ(net::find_header(get("/v2/team/arbiter/manifests/" + index).headers, "Content-Type"), index_type);
  const net::ServerAnswer part = get("/v2/team/arbiter/manifests/" + manifest);
  EXPECT_EQ(part.status, 200);
  EXPECT_EQ(net::find_header(part.headers, "Content-Type"), manifest_type);
  EXPECT_EQ(get("/v2/team/os/manifests/" + index).status, 404);
}

TEST_F(OsImagesTest, AnImageThatIsNotBuiltYetIsUnknown) {
  (void)files.remove("/images/master/image.json");
  EXPECT_EQ(get("/v2/team/os/manifests/" + manifest).status, 404);
  (void)files.remove("/images");
  EXPECT_EQ(get("/v2/team/os/manifests/" + manifest).status, 404);
  (void)files.write("/images/master/image.json", "{", 0644);
  const net::ServerAnswer broken = get("/v2/team/os/manifests/" + manifest);
  EXPECT_EQ(broken.status, 503);
  EXPECT_EQ(net::find_header(broken.headers, "Retry-After"), "5");
}

TEST_F(OsImagesTest, AServerWithoutImagesHasNoRegistry) {
  ConfigServer plain{context, rendered, {Secret("0123456789abcdef"), Secret("fedcba9876543210")}};
  const net::ServerAnswer answer =
      plain.answer({.method = "GET", .path = "/v2/", .query = "", .headers = {}, .body = "", .peer = "10.0.0.9"});
  EXPECT_EQ(answer.status, 404);
}

}  // namespace
}  // namespace slipway::components::machine_config_server
