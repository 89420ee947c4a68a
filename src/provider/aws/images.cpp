// Images of the machine OS (AMIs), which the clusters of an account share, and the snapshots of their disks. A snapshot is
// written block by block with the direct APIs of EBS, so that no bucket and no service role is needed.
#include "provider/aws/work.h"

#include "base/digest.h"
#include "base/number.h"
#include "sys/fd.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <set>

namespace slipway::provider::aws {

namespace {

constexpr std::size_t block_size = 512 << 10;
constexpr std::uint64_t gibibyte = 1ull << 30;
constexpr int blocks_at_once = 8;
constexpr Milliseconds snapshot_limit(1'800'000);
constexpr Milliseconds image_limit(600'000);
constexpr sys::Pace image_pace{.first = Milliseconds(1000), .longest = Milliseconds(10'000)};

constexpr std::string_view root_device = "/dev/xvda";
constexpr std::string_view snapshot_tag = "slipway/snapshot";  // of an image: the ID of its snapshot
constexpr std::string_view image_tag = "slipway/os-image";     // of a snapshot: the name of the image that it is for

// The direct APIs of EBS: https://docs.aws.amazon.com/ebs/latest/APIReference/Welcome.html
Call ebs(std::string_view action, const std::string& object, std::string method, std::string target) {
  Call call{.service = Service::ebs, .action = std::string(action), .object = object};
  call.method = std::move(method);
  call.target = std::move(target);
  return call;
}

bool uses(const Xml& image, std::string_view infra_id) { return !tag_of(image, cluster_tag(infra_id)).empty(); }

bool is_used(const Xml& image) {
  return std::ranges::any_of(image.at({"tagSet"}).children,
                             [](const Xml& tag) { return tag.text_at({"key"}).starts_with(cluster_tag("")); });
}

// ---- images

// All images of slipway in the account. Those of other clusters only are not ours. An image that no cluster uses is everybody's.
Result<std::vector<Item>> list_images(const Work& work) {
  std::vector<Item> items;
  const Parameters parameters = {{"Owner.1", "self"}, {"Filter.1.Name", "name"}, {"Filter.1.Value.1", os_image_name("*")}};
  for (const Xml& page : TRY(work.pages({.action = "DescribeImages", .parameters = parameters}))) {
    for (const Xml& found : page.at({"imagesSet"}).children) {
      const std::string& name = found.text_at({"name"});
      if (!name.starts_with(os_image_name(""))) continue;
      const bool is_own = uses(found, work.account.infra_id);
      items.push_back({.kind = std::string(image_kind),
                       .name = name,
                       .id = found.text_at({"imageId"}),
                       .is_ours = is_own || !is_used(found),
                       .is_whole = is_own && found.text_at({"imageState"}) == "available",
                       .facts = {{"snapshot", tag_of(found, snapshot_tag)}}});
    }
  }
  return items;
}

// Snapshots of this cluster that no image has.
Result<std::vector<Item>> list_snapshots(const Work& work) {
  std::set<std::string> in_use;
  for (const Item& image : TRY(work.all(image_kind))) in_use.insert(image.fact("snapshot"));
  Parameters parameters = cluster_filter(work.account);
  parameters.emplace_back("Owner.1", "self");
  std::vector<Item> items;
  for (const Xml& page : TRY(work.pages({.action = "DescribeSnapshots", .parameters = std::move(parameters)}))) {
    for (const Xml& found : page.at({"snapshotSet"}).children) {
      const std::string& id = found.text_at({"snapshotId"});
      const std::string name = tag_of(found, image_tag);
      if (name.empty() || !is_tagged(work.account, found) || in_use.contains(id)) continue;
      items.push_back(
          {.kind = std::string(snapshot_kind), .name = name, .id = id, .facts = {{"state", found.text_at({"status"})}}});
    }
  }
  return items;
}

Result<> remove_snapshot(const Work& work, const Item& item) {
  TRY(work.send({.action = "DeleteSnapshot",
                 .object = item.name,
                 .effect = Effect::once,
                 .parameters = {{"SnapshotId", item.id}},
                 .expected = {Failure::not_found}}));
  return Ok{};
}

Result<> tag(const Work& work, const std::string& object, const std::string& id, const Parameters& tags,
             std::vector<Failure> expected = {}, std::vector<Failure> waits_for = until_visible) {
  Parameters parameters = {{"ResourceId.1", id}};
  int i = 0;
  for (const auto& [key, value] : tags) {
    ++i;
    parameters.emplace_back(fmt::format("Tag.{}.Key", i), key);
    parameters.emplace_back(fmt::format("Tag.{}.Value", i), value);
  }
  TRY(work.send({.action = "CreateTags",
                 .object = object,
                 .effect = Effect::once,
                 .parameters = std::move(parameters),
                 .expected = std::move(expected),
                 .waits_for = std::move(waits_for)}));
  return Ok{};
}

// ---- the content of a snapshot

class ImageFile {
 public:
  static Result<ImageFile> open(const std::string& path) {
    sys::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info {};
    if (!fd.is_open() || ::fstat(fd.get(), &info) != 0) return sys::system_error("opening " + path);
    std::array<char, 4> head{};
    if (::pread(fd.get(), head.data(), head.size(), 0) == 4 && std::string_view(head.data(), 4) == "QFI\xfb") {
      return error(Code::invalid,
                   "{}: is a disk image in qcow2, but EC2 needs a raw one (convert it with `qemu-img convert -O raw`)", path);
    }
    if (info.st_size == 0) return error(Code::invalid, "{}: is empty", path);
    return ImageFile(path, std::move(fd), static_cast<std::uint64_t>(info.st_size));
  }

  std::size_t blocks() const { return static_cast<std::size_t>((size_ + block_size - 1) / block_size); }
  std::uint64_t gibibytes() const { return (size_ + gibibyte - 1) / gibibyte; }

  // Filled with zeros at the end of the file. Empty if it has zeros only: a snapshot has them where nothing was written.
  Result<std::string> block(std::size_t number) const {
    std::string bytes(block_size, '\0');
    std::size_t got = 0;
    while (got < block_size) {
      const ssize_t size =
          ::pread(fd_.get(), bytes.data() + got, block_size - got, static_cast<off_t>(number * block_size + got));
      if (size < 0) return sys::system_error("reading " + path_);
      if (size == 0) break;
      got += static_cast<std::size_t>(size);
    }
    if (bytes.find_first_not_of('\0') == std::string::npos) bytes.clear();
    return bytes;
  }

 private:
  ImageFile(std::string path, sys::Fd fd, std::uint64_t size) : path_(std::move(path)), fd_(std::move(fd)), size_(size) {}

  std::string path_;
  sys::Fd fd_;
  std::uint64_t size_;
};

// The blocks that a snapshot has. Nothing if EBS does not tell, which it may refuse for a snapshot that is not complete.
Result<std::optional<std::set<std::size_t>>> written_blocks(const Work& work, const Item& snapshot) {
  std::set<std::size_t> blocks;
  std::string query;
  for (;;) {
    Call call = ebs("ListSnapshotBlocks", snapshot.name, "GET", fmt::format("/snapshots/{}/blocks{}", snapshot.id, query));
    call.expected = {Failure::invalid, Failure::not_found, Failure::exists};
    const Reply reply = TRY(work.send(call));
    if (reply.failure) return std::optional<std::set<std::size_t>>();
    const Json answer = TRY(parse_json(reply.body, "answer of EBS"));
    for (const Json& block : find_array(answer, {"Blocks"})) {
      blocks.insert(static_cast<std::size_t>(integer_of(block, {"BlockIndex"})));
    }
    const std::string next = text_of(answer, {"NextToken"});
    if (next.empty()) return std::optional(std::move(blocks));
    query = "?pageToken=" + net::percent_encode(next);
  }
}

Result<> put_block(const Work& work, const Item& snapshot, std::size_t number, std::string bytes, const std::string& checksum) {
  Call call = ebs("PutSnapshotBlock", snapshot.name, "PUT", fmt::format("/snapshots/{}/blocks/{}", snapshot.id, number));
  call.effect = Effect::once;
  call.is_part = true;
  call.waits_for = {Failure::not_found};
  call.content_type = "application/octet-stream";
  call.headers = {
      {"x-amz-Data-Length", std::to_string(block_size)}, {"x-amz-Checksum", checksum}, {"x-amz-Checksum-Algorithm", "SHA256"}};
  call.body = std::move(bytes);
  TRY(work.send(call));
  return Ok{};
}

// Writes the blocks that the snapshot lacks, and completes it. EBS compares the checksums of all blocks.
Result<> write_snapshot(const Work& work, const Item& snapshot, const ImageFile& file) {
  const bool is_complete = snapshot.fact("state") == "completed";
  const auto known = TRY(written_blocks(work, snapshot));
  if (!known && is_complete) return Ok{};
  const std::set<std::size_t> written = known.value_or(std::set<std::size_t>());
  std::vector<std::string> digests(file.blocks());
  std::atomic<bool> has_written = false;
  TRY(sys::for_each_at_once(
      work.context, file.blocks(), blocks_at_once, [&](const sys::Context& own, std::size_t number) -> Result<> {
        std::string bytes = TRY(file.block(number));
        if (bytes.empty()) return Ok{};
        digests[number] = sha256_bytes(bytes);
        if (written.contains(number)) return Ok{};
        has_written = true;
        return put_block({own, work.account}, snapshot, number, std::move(bytes), base64_encode(digests[number]));
      }));
  if (!has_written && is_complete) return Ok{};
  const auto count = std::ranges::count_if(digests, [](const std::string& digest) { return !digest.empty(); });
  std::string all;
  for (const std::string& digest : digests) all += digest;
  Call call = ebs("CompleteSnapshot", snapshot.name, "POST", fmt::format("/snapshots/completion/{}", snapshot.id));
  call.effect = Effect::once;
  call.headers = {{"x-amz-ChangedBlocksCount", std::to_string(count)},
                  {"x-amz-Checksum", base64_encode(sha256_bytes(all))},
                  {"x-amz-Checksum-Algorithm", "SHA256"},
                  {"x-amz-Checksum-Aggregation-Method", "LINEAR"}};
  TRY(work.send(call));
  return Ok{};
}

Result<> wait_until_complete(const Work& work, const std::string& snapshot) {
  return sys::wait_for(
      work.context, fmt::format("snapshot {}", snapshot), snapshot_limit,
      [&]() -> Result<sys::Observation> {
        const Reply reply = TRY(work.send({.action = "DescribeSnapshots",
                                           .object = snapshot,
                                           .parameters = {{"SnapshotId.1", snapshot}},
                                           .waits_for = until_visible}));
        const Xml& found = reply.xml.at({"snapshotSet", "item"});
        const std::string& state = found.text_at({"status"});
        if (state == "completed") return sys::Observation::done();
        if (state == "error") return error(Code::invalid, "snapshot {}: {}", snapshot, found.text_at({"statusMessage"}));
        return sys::Observation::not_yet("is {} ({})", state, found.text_at({"progress"}));
      },
      nullptr, image_pace);
}

Result<std::string> make_snapshot(const Work& work, const plan::Resource& resource) {
  const sys::Context& context = work.context;
  const std::string path = TRY(work.account.os_image_file(context, resource.name));
  const ImageFile file = TRY(ImageFile::open(path));
  work.account.inventory.forget(snapshot_kind);
  std::optional<Item> snapshot = TRY(work.account.inventory.known(context, snapshot_kind, resource.name));
  // EBS gives up a snapshot that gets no blocks for an hour, for instance after a kill.
  if (snapshot && snapshot->fact("state") == "error") {
    TRY(remove_snapshot(work, *snapshot));
    snapshot.reset();
  }
  if (!snapshot) {
    Call call = ebs("StartSnapshot", resource.name, "POST", "/snapshots");
    call.effect = Effect::twice;
    call.content_type = "application/json";
    JsonArray tags = {{{"Key", image_tag}, {"Value", resource.name}}};
    for (const auto& [key, value] : tags_of(work.account, resource.name)) tags.push_back({{"Key", key}, {"Value", value}});
    call.body =
        emit_json({{"VolumeSize", file.gibibytes()}, {"Description", resource.name}, {"Timeout", 60}, {"Tags", std::move(tags)}},
                  JsonStyle::compact);
    const Reply reply = TRY(work.send(call));
    const Json answer = TRY(parse_json(reply.body, "answer of EBS"));
    std::string id = TRY(require_string(answer, {"SnapshotId"}));
    snapshot = Item{.kind = std::string(snapshot_kind), .name = resource.name, .id = std::move(id)};
  }
  TRY(write_snapshot(work, *snapshot, file));
  TRY(work.account.forget_os_image_file(path));
  TRY(wait_until_complete(work, snapshot->id));
  return snapshot->id;
}

Parameters image_tags(const Work& work, const plan::Resource& resource, const std::string& snapshot) {
  return {{"Name", resource.name},
          {std::string(snapshot_tag), snapshot},
          {cluster_tag(work.account.infra_id), std::string(shared_value)}};
}

Result<std::string> register_image(const Work& work, const plan::Resource& resource, const std::string& snapshot) {
  Parameters parameters = {{"Name", resource.name},
                           {"Description", "machine OS of slipway"},
                           {"Architecture", text(resource, "architecture")},
                           {"VirtualizationType", "hvm"},
                           {"EnaSupport", "true"},
                           {"BootMode", "uefi-preferred"},
                           {"RootDeviceName", std::string(root_device)},
                           {"BlockDeviceMapping.1.DeviceName", std::string(root_device)},
                           {"BlockDeviceMapping.1.Ebs.SnapshotId", snapshot},
                           {"BlockDeviceMapping.1.Ebs.VolumeType", "gp3"},
                           {"BlockDeviceMapping.1.Ebs.DeleteOnTermination", "true"}};
  add_ec2_tags(parameters, 1, "image", image_tags(work, resource, snapshot));
  const Reply reply = TRY(work.send({.action = "RegisterImage",
                                     .object = resource.name,
                                     .effect = Effect::twice,
                                     .parameters = std::move(parameters),
                                     .waits_for = until_visible}));
  return reply.xml.text_at({"imageId"});
}

Result<> wait_until_available(const Work& work, const std::string& image) {
  return sys::wait_for(
      work.context, fmt::format("image {}", image), image_limit,
      [&]() -> Result<sys::Observation> {
        const Reply reply = TRY(work.send(
            {.action = "DescribeImages", .object = image, .parameters = {{"ImageId.1", image}}, .waits_for = until_visible}));
        const std::string& state = reply.xml.at({"imagesSet", "item"}).text_at({"imageState"});
        if (state == "available") return sys::Observation::done();
        if (state == "failed" || state == "invalid") return error(Code::invalid, "image {}: is {}", image, state);
        return sys::Observation::not_yet("is {}", state);
      },
      nullptr, image_pace);
}

// An image that another cluster made is used, too.
Result<Item> create_image(const Work& work, const plan::Resource& resource) {
  work.account.inventory.forget(image_kind);
  std::optional<Item> image = TRY(work.account.inventory.known(work.context, image_kind, resource.name));
  std::string snapshot = image ? image->fact("snapshot") : "";
  if (!image) {
    snapshot = TRY(make_snapshot(work, resource));
    image = item_of(resource, TRY(register_image(work, resource, snapshot)));
  }
  TRY(wait_until_available(work, image->id));
  TRY(tag(work, resource.name, image->id, image_tags(work, resource, snapshot)));
  image->is_ours = image->is_whole = true;
  image->facts["snapshot"] = snapshot;
  return *std::move(image);
}

// The image stays while other clusters use it.
Result<> remove_image(const Work& work, const Item& item) {
  const Reply reply = TRY(work.send({.action = "DescribeImages",
                                     .object = item.name,
                                     .parameters = {{"ImageId.1", item.id}},
                                     .expected = {Failure::not_found}}));
  const Xml& found = reply.xml.at({"imagesSet", "item"});
  if (found.text_at({"imageId"}).empty()) return Ok{};
  const std::string own = cluster_tag(work.account.infra_id);
  const bool has_others = std::ranges::any_of(found.at({"tagSet"}).children, [&](const Xml& each) {
    return each.text_at({"key"}).starts_with(cluster_tag("")) && each.text_at({"key"}) != own;
  });
  if (has_others) {
    if (!uses(found, work.account.infra_id)) return Ok{};
    TRY(work.send({.action = "DeleteTags",
                   .object = item.name,
                   .effect = Effect::once,
                   .parameters = {{"ResourceId.1", item.id}, {"Tag.1.Key", own}},
                   .expected = {Failure::not_found}}));
    return Ok{};
  }
  // The snapshot belongs to the cluster that made it, which may not exist any more. A scan finds it after a kill.
  const std::string snapshot = tag_of(found, snapshot_tag);
  if (!snapshot.empty()) {
    TRY(tag(work, item.name, snapshot, {{own, "owned"}, {std::string(image_tag), item.name}}, {Failure::not_found}, {}));
  }
  TRY(work.send({.action = "DeregisterImage",
                 .object = item.name,
                 .effect = Effect::once,
                 .parameters = {{"ImageId", item.id}},
                 .expected = {Failure::not_found}}));
  work.account.inventory.forget(snapshot_kind);
  if (snapshot.empty()) return Ok{};
  Item left{.kind = std::string(snapshot_kind), .name = item.name, .id = snapshot};
  return remove_snapshot(work, left);
}

}  // namespace

std::span<const Kind> image_kinds() {
  static constexpr std::array kinds = {
      Kind{image_kind, list_images, create_image, remove_image},
      Kind{snapshot_kind, list_snapshots, nullptr, remove_snapshot},
  };
  return kinds;
}

}  // namespace slipway::provider::aws
