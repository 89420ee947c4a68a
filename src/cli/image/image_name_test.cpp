#include "cli/image/image_name.h"

#include <gtest/gtest.h>

namespace slipway::cli {
namespace {

TEST(ImageName, IsThatOfTheKubelet) {
  const std::pair<const char*, const char*> names[] = {
      {"app", "docker.io/library/app"},
      {"app:dev", "docker.io/library/app:dev"},
      {"team/app:dev", "docker.io/team/app:dev"},
      {"docker.io/app:1", "docker.io/library/app:1"},
      {"index.docker.io/team/app:1", "docker.io/team/app:1"},
      {"localhost/app", "localhost/app"},
      {"localhost:5000/app:1", "localhost:5000/app:1"},
      {"quay.io/team/app:1", "quay.io/team/app:1"},
  };
  for (const auto& [text, full] : names) EXPECT_EQ(to_string(full_image_name(text).value()), full) << text;
  for (const char* text : {"", "App", "a//b", "quay.io/"}) EXPECT_FALSE(full_image_name(text).ok()) << text;
}

TEST(ImageName, HasAPlaceInTheRegistry) {
  const std::string registry = "127.43.1.9:5000";
  EXPECT_EQ(place_in_registry(registry, full_image_name("app:dev").value()), "127.43.1.9:5000/docker.io/library/app:dev");
  EXPECT_EQ(place_in_registry(registry, full_image_name("localhost:5001/a/b:1").value()),
            "127.43.1.9:5000/localhost__5001/a/b:1");
}

TEST(ImageSource, IsATransportOrAName) {
  const auto expect = [](const char* text, const char* location, const char* name) {
    const Result<ImageSource> source = parse_image_source(text);
    ASSERT_TRUE(source.ok()) << text;
    EXPECT_EQ(source->location, location) << text;
    EXPECT_EQ(source->name, name) << text;
  };
  expect("app:dev", "", "app:dev");
  expect("oci:dir", "oci:dir", "");
  expect("oci:dir:app:dev", "oci:dir:app:dev", "app:dev");
  expect("docker-archive:app.tar", "docker-archive:app.tar", "");
  expect("docker://quay.io/a:1", "docker://quay.io/a:1", "quay.io/a:1");
  expect("containers-storage:localhost/a:1", "containers-storage:localhost/a:1", "localhost/a:1");
  for (const char* text : {"", "oci:", "https://quay.io/a", "dir:/tmp/x"}) EXPECT_FALSE(parse_image_source(text).ok()) << text;
}

}  // namespace
}  // namespace slipway::cli
