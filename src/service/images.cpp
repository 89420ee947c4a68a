#include "service/images.h"

#include "base/digest.h"
#include "base/text.h"
#include "base/uuid.h"
#include "net/hmac.h"
#include "release/cpio.h"
#include "sys/file_reader.h"

#include <fmt/core.h>

namespace slipway::service {

namespace {

constexpr std::size_t initrd_unit = 512;  // of initrds that follow each other

net::BodyPart text_part(std::string text) { return {.text = std::make_shared<const std::string>(std::move(text))}; }

net::BodyPart file_part(const BaseImage::Content& base, const release::Extent& extent) {
  return {.text = nullptr, .file = {base.path, extent.offset, extent.length}};
}

// Hosts that are only to be discovered must keep their disks (os/disk/live --install-disk).
Result<> check_keeps_disks(const release::LiveImage& image) {
  constexpr std::string_view argument = "slipway.install.disk=";
  for (const std::string_view word : split(image.kernel_arguments, ' ')) {
    if (!word.starts_with(argument)) continue;
    return error(Code::invalid,
                 "writes {} of each host that boots it (make the image with --with-disk-image instead of --install-disk)",
                 to_utf8(word.substr(argument.size())));
  }
  return Ok{};
}

}  // namespace

Result<BaseImage::Content> BaseImage::content() const {
  if (path_.empty()) {
    return error(Code::not_found,
                 "the service has no live image (make one with slipway image create --platform metal --format iso, and start the "
                 "service with --live-image FILE)");
  }
  const sys::FileReader file = TRY(sys::FileReader::open(path_).context("the live image of the service"));
  const std::string version = fmt::format("{}-{}", file.size(), file.changed_at());
  const std::optional<Content> known = known_.with_lock([](const std::optional<Content>& last) { return last; });
  if (known && known->version == version) return *known;
  const release::ReadAt read = [&](std::uint64_t offset, std::size_t length) { return file.read(offset, length); };
  release::LiveImage image = TRY(release::read_live_image(read, file.size()).context(path_));
  TRY(check_keeps_disks(image).context(path_));
  Content found{.path = path_, .image = std::move(image), .version = version};
  known_.with_lock([&](std::optional<Content>& last) { last = found; });
  return found;
}

std::string missing_of_image(const release::LiveImage* image) {
  constexpr std::string_view command = "slipway image create --platform metal --format iso --with-disk-image";
  if (image == nullptr) {
    return fmt::format(
        "no live image to serve: hosts get no discovery image from this service (make one with {}, and give it with --live-image "
        "FILE)",
        command);
  }
  if (image->has_disk_image) return "";
  return fmt::format("the live image has no disk image to write: only local machines can be installed from it (make another one "
                     "with {}, and give it with --live-image FILE)",
                     command);
}

Result<std::vector<net::BodyPart>> iso_parts(const BaseImage::Content& base, std::string_view config) {
  const release::Extent& area = base.image.config;
  std::string embedded = TRY(release::embed_config(config, area.length));
  const std::uint64_t behind = area.offset + area.length;
  return std::vector<net::BodyPart>{file_part(base, {0, area.offset}), text_part(std::move(embedded)),
                                    file_part(base, {behind, base.image.size - behind})};
}

std::vector<net::BodyPart> kernel_parts(const BaseImage::Content& base) { return {file_part(base, base.image.kernel)}; }

Result<std::vector<net::BodyPart>> rootfs_parts(const BaseImage::Content& base) {
  const release::Extent& root = base.image.root;
  std::string begin = TRY(release::cpio_header("root.squashfs", 0644, root.length));
  std::string end = release::cpio_padding(root.length) + release::cpio_trailer();
  const std::uint64_t size = begin.size() + root.length + end.size();
  end.append((initrd_unit - size % initrd_unit) % initrd_unit, '\0');
  return std::vector<net::BodyPart>{text_part(std::move(begin)), file_part(base, root), text_part(std::move(end))};
}

Result<std::vector<net::BodyPart>> initrd_parts(const BaseImage::Content& base, std::string_view config) {
  std::string own = TRY(release::config_initrd(config));
  return std::vector<net::BodyPart>{file_part(base, base.image.initramfs), text_part(std::move(own))};
}

std::string entity_tag(const BaseImage::Content& base, const std::vector<net::BodyPart>& parts) {
  std::string all = base.version;
  for (const net::BodyPart& part : parts)
    all += part.text ? sha256_hex(*part.text) : fmt::format(" {}+{} ", part.file.offset, part.file.length);
  return fmt::format("\"{}\"", sha256_hex(all));
}

std::string agent_token_of(std::string_view image_token) {
  const std::string id = uuid_of_hex(sha256_hex(net::hmac_sha256(image_token, "ID of the agent's token")));
  return fmt::format("{}.{}", id, sha256_hex(net::hmac_sha256(image_token, "secret of the agent's token")));
}

std::string ipxe_script(std::string_view url, std::string_view infra_env, std::string_view query,
                        const release::LiveImage& image) {
  return fmt::format(
      "#!ipxe\n"
      "kernel {0}/boot-artifacts/kernel initrd=initrd initrd=rootfs {1}\n"
      "initrd --name initrd {0}/images/{2}/pxe-initrd{3}{4}\n"
      "initrd --name rootfs {0}/boot-artifacts/rootfs\n"
      "boot\n",
      url, image.kernel_arguments, infra_env, query.empty() ? "" : "?", query);
}

}  // namespace slipway::service
