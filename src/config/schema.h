// Which fields an install-config has, and of what kind. Private to the folder.
#pragma once

#include <string_view>
#include <vector>

namespace slipway::config {

struct Member;

struct Schema {
  enum class Kind {
    any,      // kept as it is
    text,     // numbers become text
    integer,  // 3.0 is one
    boolean,  // yes and on are
    object,
    list,
  };
  Kind kind = Kind::any;
  std::vector<Member> members;  // of an object
  std::vector<Schema> item;     // of a list: one
  bool null_is_wrong = false;   // elsewhere null means "not given"
};

struct Member {
  std::string_view name;
  Schema schema;
};

const Schema& install_config_schema();

}  // namespace slipway::config
