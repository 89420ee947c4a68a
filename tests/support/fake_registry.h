// FakeRegistry: a registry in memory behind an HttpImposter. A test may change each answer.
//
//   FakeRegistry registry;
//   registry.alter_reply = [](const Seen& seen, Reply& reply) { if (seen.line() == "GET /v2/") reply.status = 500; };
#pragma once

#include "release/digest.h"
#include "support/http_imposter.h"
#include "support/sample_release.h"

#include <map>
#include <set>
#include <string>

namespace slipway::testing_support {

// All repositories are the same one. It does not check the protocol: component tests use real registries. Threads: any.
class FakeRegistry {
 public:
  using Seen = HttpImposter::Seen;
  using Reply = HttpImposter::Reply;

  struct State {
    std::map<std::string, std::string> blobs;
    std::map<std::string, std::string> manifests;  // by digest and by tag
    std::map<std::string, std::string> types;      // of manifests
    std::set<std::string> uploads;                 // started, not completed
  };

  void fill(const SampleRelease& sample, const std::string& tag = "0.1.0") {
    state_.with_lock([&](State& state) {
      for (const auto& [digest, bytes] : sample.blobs) {
        const auto type = sample.manifests.find(digest);
        if (type == sample.manifests.end()) {
          state.blobs[digest] = bytes;
        } else {
          put(state, digest, bytes, type->second);
        }
      }
      put(state, tag, sample.blobs.at(sample.release), std::string(SampleRelease::manifest_type));
    });
  }

  void tag(const std::string& name, const std::string& manifest) {
    state_.with_lock([&](State& state) { put(state, name, manifest, std::string(SampleRelease::manifest_type)); });
  }

  State state() const {
    return state_.with_lock([](const State& state) { return state; });
  }

  std::string host() const { return server.host(); }

 private:
  static void put(State& state, const std::string& name, const std::string& bytes, const std::string& type) {
    state.manifests[name] = bytes;
    state.types[name] = type;
  }

  static Reply found(const std::map<std::string, std::string>& all, const std::string& name, const Seen& seen) {
    auto entry = all.find(name);
    if (entry == all.end()) return {.status = 404, .body = R"({"errors":[{"code":"UNKNOWN","message":"unknown"}]})"};
    const std::string range = seen.header("range");
    if (!range.starts_with("bytes=")) return {.body = entry->second};
    const std::size_t start = std::stoul(range.substr(6));
    const std::size_t size = entry->second.size();
    return {.status = 206,
            .headers = {fmt::format("Content-Range: bytes {}-{}/{}", start, size - 1, size)},
            .body = entry->second.substr(start)};
  }

  static Reply answer(State& state, const Seen& seen) {
    const std::string path = seen.target.substr(0, seen.target.find('?'));
    const std::string name = path.substr(path.rfind('/') + 1);
    const bool is_manifest = seen.target.find("/manifests/") != std::string::npos;
    if (seen.method == "POST") {
      const std::string upload = std::to_string(state.uploads.size() + 1);
      state.uploads.insert(upload);
      return {.status = 202, .headers = {"Location: /v2/uploads/" + upload + "?state=a%2Fb"}};
    }
    if (seen.method == "DELETE") return state.uploads.erase(name), Reply{.status = 204};
    if (seen.method == "PUT" && is_manifest) {
      const std::string type = seen.header("content-type");
      put(state, release::Digest::of(seen.body).text(), seen.body, type);
      put(state, name, seen.body, type);
      return {.status = 201};
    }
    if (seen.method == "PUT") {
      state.uploads.erase(name);
      state.blobs[release::Digest::of(seen.body).text()] = seen.body;
      return {.status = 201};
    }
    Reply reply = found(is_manifest ? state.manifests : state.blobs, name, seen);
    if (is_manifest && reply.status == 200) reply.headers = {"Content-Type: " + state.types[name]};
    return reply;
  }

  Guarded<State> state_;

 public:
  std::function<void(const Seen&, Reply&)> alter_reply = [](const Seen&, Reply&) {};
  HttpImposter server{[this](const Seen& seen) {
    Reply reply = state_.with_lock([&](State& state) { return answer(state, seen); });
    alter_reply(seen, reply);
    return reply;
  }};
};

}  // namespace slipway::testing_support
