#include "ignition/make.h"

#include "ignition/validate.h"

#include <gtest/gtest.h>

namespace slipway::ignition {
namespace {

TEST(MakeConfig, GivesAValidConfig) {
  Config config{.ignition = {.version = Version::v3_2}};
  config.ignition.config.merge.push_back(make_reference("https://api-int.example.com:22623/config/master"));
  put(config, make_file("/etc/hostname", "master-0\n", 0644));
  put(config, make_link("/etc/localtime", "../usr/share/zoneinfo/UTC"));
  put(config, make_unit("kubelet.service", "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n", true));
  put_dropin(config, "kubelet.service", "20-logging", "[Service]\nEnvironment=V=2\n");
  put_dropin(config, "crio.service", "10-proxy", "[Service]\nEnvironment=P=\n");
  EXPECT_EQ(validate(config).to_text(), "");
  EXPECT_EQ(emit_json(to_json(config), JsonStyle::pretty), R"({
  "ignition": {
    "version": "3.2.0",
    "config": {
      "merge": [
        {
          "source": "https://api-int.example.com:22623/config/master"
        }
      ]
    }
  },
  "storage": {
    "files": [
      {
        "path": "/etc/hostname",
        "overwrite": true,
        "mode": 420,
        "contents": {
          "source": "data:,master-0%0A"
        }
      }
    ],
    "links": [
      {
        "path": "/etc/localtime",
        "overwrite": true,
        "target": "../usr/share/zoneinfo/UTC"
      }
    ]
  },
  "systemd": {
    "units": [
      {
        "name": "kubelet.service",
        "enabled": true,
        "contents": "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n",
        "dropins": [
          {
            "name": "20-logging.conf",
            "contents": "[Service]\nEnvironment=V=2\n"
          }
        ]
      },
      {
        "name": "crio.service",
        "dropins": [
          {
            "name": "10-proxy.conf",
            "contents": "[Service]\nEnvironment=P=\n"
          }
        ]
      }
    ]
  }
}
)");
}

TEST(PutIntoConfig, ReplacesAnItemOfTheSameName) {
  Config config;
  put(config, make_file("/a", "1", 0600));
  put(config, make_file("/b", "2", 0600));
  put(config, make_file("/a", "3", 0644));
  ASSERT_EQ(config.storage.files.size(), 2u);
  EXPECT_EQ(config.storage.files[0], make_file("/a", "3", 0644));
  put_dropin(config, "a.service", "x", "[A]");
  put_dropin(config, "a.service", "x", "[B]");
  ASSERT_EQ(config.systemd.units.size(), 1u);
  EXPECT_EQ(config.systemd.units[0].dropins, std::vector<Dropin>{make_dropin("x", "[B]")});
}

}  // namespace
}  // namespace slipway::ignition
