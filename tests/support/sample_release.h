// SampleRelease: a small release with two components that share a layer, as blobs for a layout or a registry.
#pragma once

#include "base/json.h"
#include "release/digest.h"

#include <archive.h>
#include <archive_entry.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::testing_support {

enum class Compression { none, gzip, zstd };

// A tar archive with these files, in this order.
inline std::string make_tar(const std::vector<std::pair<std::string, std::string>>& files,
                            Compression compression = Compression::gzip) {
  std::string bytes;
  archive* a = archive_write_new();
  archive_write_set_format_pax_restricted(a);
  if (compression == Compression::gzip) {
    archive_write_add_filter_gzip(a);
    archive_write_set_filter_option(a, "gzip", "timestamp", nullptr);  // archives do not depend on the time
  }
  if (compression == Compression::zstd) archive_write_add_filter_zstd(a);
  archive_write_set_bytes_in_last_block(a, 1);
  archive_write_open(
      a, &bytes, nullptr,
      [](archive*, void* out, const void* data, std::size_t size) -> la_ssize_t {
        static_cast<std::string*>(out)->append(static_cast<const char*>(data), size);
        return static_cast<la_ssize_t>(size);
      },
      nullptr);
  for (const auto& [name, content] : files) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_filetype(entry, name.ends_with('/') ? AE_IFDIR : AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    archive_write_header(a, entry);
    archive_write_data(a, content.data(), content.size());
    archive_entry_free(entry);
  }
  archive_write_close(a);
  archive_write_free(a);
  return bytes;
}

struct SampleRelease {
  static constexpr std::string_view manifest_type = "application/vnd.oci.image.manifest.v1+json";
  static constexpr std::string_view index_type = "application/vnd.oci.image.index.v1+json";
  static constexpr std::string_view repository = "registry.slipway.invalid/slipway/release";

  std::map<std::string, std::string> blobs;      // by digest, including manifests
  std::map<std::string, std::string> manifests;  // media type by digest
  std::string shared_layer, etcd, dns, release;  // digests

  SampleRelease() {
    shared_layer = add(make_tar({{"usr/bin/sh", std::string(200'000, 's')}}, Compression::none));
    etcd = add_image({shared_layer, add(make_tar({{"usr/bin/etcd", "etcd"}}))});
    dns = add_image({shared_layer, add(make_tar({{"usr/bin/coredns", "coredns"}}, Compression::zstd))});
    release = add_image({shared_layer, add(make_tar(release_files()))});
  }

  std::string add(std::string bytes) {
    std::string digest = release::Digest::of(bytes).text();
    blobs.emplace(digest, std::move(bytes));
    return digest;
  }

  Json descriptor(std::string_view media_type, const std::string& digest) const {
    return {{"mediaType", media_type}, {"digest", digest}, {"size", blobs.at(digest).size()}};
  }

  std::string add_manifest(std::string_view media_type, const Json& document) {
    std::string digest = add(emit_json(document, JsonStyle::compact));
    manifests.emplace(digest, media_type);
    return digest;
  }

  std::string add_image(const std::vector<std::string>& layers) {
    const std::string config = add(R"({"created":"2026-11-21T09:30:00Z","architecture":"amd64","os":"linux"})");
    JsonArray list;
    for (const std::string& layer : layers) list.push_back(descriptor("application/vnd.oci.image.layer.v1.tar+gzip", layer));
    return add_manifest(manifest_type, {{"schemaVersion", 2},
                                        {"mediaType", manifest_type},
                                        {"config", descriptor("application/vnd.oci.image.config.v1+json", config)},
                                        {"layers", list}});
  }

  std::string image_references() const {
    auto tag = [](std::string_view name, const std::string& digest, std::string_view versions) -> Json {
      return {{"name", name},
              {"annotations", {{"io.openshift.build.versions", versions}}},
              {"from", {{"kind", "DockerImage"}, {"name", fmt::format("{}@{}", repository, digest)}}}};
    };
    return emit_json({{"kind", "ImageStream"},
                      {"apiVersion", "image.openshift.io/v1"},
                      {"metadata", {{"name", "0.1.0"}}},
                      {"spec", {{"tags", {tag("coredns", dns, "coredns=1.12.0"), tag("etcd", etcd, "etcd=3.6.5")}}}}},
                     JsonStyle::pretty);
  }

  static std::string release_metadata() {
    return R"({"kind":"cincinnati-metadata-v0","version":"0.1.0","previous":[],"metadata":{"description":"a sample"}})";
  }

  std::vector<std::pair<std::string, std::string>> release_files() const {
    return {{"./release-manifests/", ""},
            {"./release-manifests/0000_10_a.crd.yaml", "kind: CustomResourceDefinition\n"},
            {"./release-manifests/image-references", image_references()},
            {"./release-manifests/release-metadata", release_metadata()}};
  }
};

}  // namespace slipway::testing_support
