// Pools and volumes.
#include "provider/libvirt/connection_state.h"

namespace slipway::provider::libvirt {

namespace {

constexpr std::size_t piece_size = 256 << 10;

// One transfer of a volume's content; aborted unless it was finished.
class Transfer {
 public:
  Transfer(const Library& libvirt, virConnectPtr connection) : libvirt_(libvirt), stream_(libvirt.virStreamNew(connection, 0)) {}
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    if (is_running_) libvirt_.virStreamAbort(stream_);
    if (stream_) libvirt_.virStreamFree(stream_);
  }

  virStreamPtr stream() const { return stream_; }
  void set_running(bool running) { is_running_ = running; }

 private:
  const Library& libvirt_;
  const virStreamPtr stream_;
  bool is_running_ = false;
};

Result<> send(const Library& libvirt, virStreamPtr stream, std::string_view doing, std::string_view bytes) {
  while (!bytes.empty()) {
    const int sent = libvirt.virStreamSend(stream, bytes.data(), bytes.size());
    if (sent < 0) return to_error(doing, last_failure(libvirt));
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return Ok{};
}

// Nothing if it was removed in the meantime.
Result<std::optional<Pool>> describe(const Library& libvirt, virStoragePoolPtr pool) {
  const std::string doing = fmt::format("reading pool {}", libvirt.virStoragePoolGetName(pool));
  const auto vanished = [&]() -> Result<std::optional<Pool>> {
    const Failure failure = last_failure(libvirt);
    if (code_of(failure) == Code::not_found) return std::optional<Pool>();
    return to_error(doing, failure);
  };
  Pool found{.name = libvirt.virStoragePoolGetName(pool)};
  found.xml = take_text(libvirt.virStoragePoolGetXMLDesc(pool, 0));
  if (found.xml.empty()) return vanished();
  virStoragePoolInfo info{};
  if (libvirt.virStoragePoolGetInfo(pool, &info) < 0) return vanished();
  found.is_active = info.state == VIR_STORAGE_POOL_RUNNING || info.state == VIR_STORAGE_POOL_DEGRADED;
  if (found.is_active) found.available = info.available;
  return std::optional(std::move(found));
}

Result<std::optional<Volume>> describe(const Library& libvirt, const std::string& pool, virStorageVolPtr volume) {
  Volume found{.pool = pool, .name = libvirt.virStorageVolGetName(volume)};
  found.path = take_text(libvirt.virStorageVolGetPath(volume));
  if (!found.path.empty()) found.xml = take_text(libvirt.virStorageVolGetXMLDesc(volume, 0));
  if (!found.xml.empty()) return std::optional(std::move(found));
  const Failure failure = last_failure(libvirt);
  if (code_of(failure) == Code::not_found) return std::optional<Volume>();
  return to_error(fmt::format("reading volume {} of pool {}", found.name, pool), failure);
}

}  // namespace

Result<PoolHandle> Connection::State::pool(const std::string& name) const {
  PoolHandle found(libvirt.virStoragePoolLookupByName(connection, name.c_str()), {&libvirt});
  if (found) return found;
  const Failure failure = last_failure(libvirt);
  if (code_of(failure) == Code::not_found) return found;
  return to_error(fmt::format("looking for pool {}", name), failure);
}

Result<VolumeHandle> Connection::State::volume(virStoragePoolPtr pool, const std::string& name) const {
  VolumeHandle found(libvirt.virStorageVolLookupByName(pool, name.c_str()), {&libvirt});
  if (found) return found;
  const Failure failure = last_failure(libvirt);
  if (code_of(failure) == Code::not_found) return found;
  return to_error(fmt::format("looking for volume {} of pool {}", name, libvirt.virStoragePoolGetName(pool)), failure);
}

Result<VolumeHandle> Connection::State::existing_volume(const std::string& pool_name, const std::string& name) const {
  const PoolHandle its_pool = TRY(pool(pool_name));
  if (!its_pool) return error(Code::not_found, "pool {}: not found on {}", pool_name, uri);
  VolumeHandle found = TRY(volume(its_pool.get(), name));
  if (!found) return error(Code::not_found, "volume {}: not found in pool {}", name, pool_name);
  return found;
}

Result<std::vector<Pool>> Connection::pools() {
  const Library& libvirt = state_->libvirt;
  std::vector<Pool> all;
  for (const PoolHandle& pool : TRY(list_all<PoolHandle>(libvirt, "listing the pools", [&](virStoragePoolPtr** found) {
         return libvirt.virConnectListAllStoragePools(state_->connection, found, 0);
       }))) {
    if (std::optional<Pool> described = TRY(describe(libvirt, pool.get()))) all.push_back(*std::move(described));
  }
  return all;
}

Result<std::optional<Pool>> Connection::find_pool(const std::string& name) {
  const PoolHandle pool = TRY(state_->pool(name));
  if (!pool) return std::optional<Pool>();
  return describe(state_->libvirt, pool.get());
}

Result<> Connection::create_pool(const std::string& xml, const std::string& name) {
  const Library& libvirt = state_->libvirt;
  PoolHandle pool = TRY(state_->pool(name));
  if (!pool) {
    pool = PoolHandle(libvirt.virStoragePoolDefineXML(state_->connection, xml.c_str(), 0), {&libvirt});
    if (!pool) {
      const Error why = state_->failed(fmt::format("defining pool {}", name));
      // Another process may have created it a moment ago.
      pool = TRY(state_->pool(name));
      if (!pool) return why;
    }
  }
  if (libvirt.virStoragePoolSetAutostart(pool.get(), 1) < 0) {
    return state_->failed(fmt::format("having pool {} started with the host", name));
  }
  if (libvirt.virStoragePoolIsActive(pool.get()) != 1) {
    if (libvirt.virStoragePoolBuild(pool.get(), VIR_STORAGE_POOL_BUILD_NEW) < 0) {
      return state_->failed(fmt::format("creating the folder of pool {}", name));
    }
    if (libvirt.virStoragePoolCreate(pool.get(), VIR_STORAGE_POOL_CREATE_NORMAL) < 0) {
      const Error why = state_->failed(fmt::format("starting pool {}", name));
      if (libvirt.virStoragePoolIsActive(pool.get()) != 1) return why;
    }
  }
  return Ok{};
}

Result<> Connection::remove_pool(const std::string& name) {
  const Library& libvirt = state_->libvirt;
  const PoolHandle pool = TRY(state_->pool(name));
  if (!pool) return Ok{};
  // The volumes of a pool that is not active cannot be listed any more, so a pool with volumes is not stopped. The refresh fails,
  // and stops the pool, if its folder is missing.
  if (libvirt.virStoragePoolIsActive(pool.get()) == 1 && libvirt.virStoragePoolRefresh(pool.get(), 0) == 0) {
    const int volumes = libvirt.virStoragePoolNumOfVolumes(pool.get());
    if (volumes > 0) return error(Code::conflict, "removing pool {}: it has {} volumes", name, volumes);
  }
  if (libvirt.virStoragePoolIsActive(pool.get()) == 1 && libvirt.virStoragePoolDestroy(pool.get()) < 0) {
    const Error why = state_->failed(fmt::format("stopping pool {}", name));
    if (libvirt.virStoragePoolIsActive(pool.get()) == 1) return why;
  }
  if (libvirt.virStoragePoolDelete(pool.get(), VIR_STORAGE_POOL_DELETE_NORMAL) < 0) {
    const Failure failure = last_failure(libvirt);
    if (failure.error_number != ENOENT && code_of(failure) != Code::not_found) {
      libvirt.virStoragePoolCreate(pool.get(), VIR_STORAGE_POOL_CREATE_NORMAL);
      return to_error(fmt::format("removing the folder of pool {}", name), failure);
    }
  }
  if (libvirt.virStoragePoolUndefine(pool.get()) < 0) {
    const Error why = state_->failed(fmt::format("removing pool {}", name));
    if (why.code() != Code::not_found) return why;
  }
  return Ok{};
}

Result<std::vector<Volume>> Connection::volumes(const std::string& pool_name, Refresh refresh) {
  const Library& libvirt = state_->libvirt;
  const PoolHandle pool = TRY(state_->pool(pool_name));
  std::vector<Volume> all;
  if (!pool || libvirt.virStoragePoolIsActive(pool.get()) != 1) return all;
  if (refresh == Refresh::yes && libvirt.virStoragePoolRefresh(pool.get(), 0) < 0) {
    // libvirt refuses it while a volume is created in another thread. It then knows all volumes that were created by libvirt.
    const Error why = state_->failed(fmt::format("refreshing pool {}", pool_name));
    if (libvirt.virStoragePoolIsActive(pool.get()) != 1) return why;
  }
  for (const VolumeHandle& volume : TRY(list_all<VolumeHandle>(
           libvirt, fmt::format("listing the volumes of pool {}", pool_name),
           [&](virStorageVolPtr** found) { return libvirt.virStoragePoolListAllVolumes(pool.get(), found, 0); }))) {
    if (std::optional<Volume> described = TRY(describe(libvirt, pool_name, volume.get()))) all.push_back(*std::move(described));
  }
  return all;
}

Result<std::optional<Volume>> Connection::find_volume(const std::string& pool_name, const std::string& name) {
  const PoolHandle pool = TRY(state_->pool(pool_name));
  if (!pool || state_->libvirt.virStoragePoolIsActive(pool.get()) != 1) return std::optional<Volume>();
  const VolumeHandle volume = TRY(state_->volume(pool.get(), name));
  if (!volume) return std::optional<Volume>();
  return describe(state_->libvirt, pool_name, volume.get());
}

Result<> Connection::create_volume(const std::string& pool_name, const std::string& xml) {
  const Library& libvirt = state_->libvirt;
  const PoolHandle pool = TRY(state_->pool(pool_name));
  if (!pool) return error(Code::not_found, "pool {}: not found on {}", pool_name, uri());
  const VolumeHandle made(libvirt.virStorageVolCreateXML(pool.get(), xml.c_str(), 0), {&libvirt});
  if (made) return Ok{};
  const std::string name = name_in(xml);
  Error why = state_->failed(fmt::format("creating volume {} in pool {}", name, pool_name));
  return definition_error(std::move(why), state_->volume(pool.get(), name));
}

Result<> Connection::upload(const sys::Context& context, const std::string& pool, const std::string& volume, std::uint64_t size,
                            const Reader& reader) {
  const Library& libvirt = state_->libvirt;
  const std::string doing = fmt::format("uploading volume {} of pool {}", volume, pool);
  const VolumeHandle target = TRY(state_->existing_volume(pool, volume));
  Transfer transfer(libvirt, state_->connection);
  if (!transfer.stream() || libvirt.virStorageVolUpload(target.get(), transfer.stream(), 0, size, 0) < 0) {
    return state_->failed(doing);
  }
  transfer.set_running(true);
  std::vector<char> buffer(piece_size);
  std::uint64_t sent = 0;
  while (true) {
    if (context.stop.stop_requested()) return error(Code::cancelled, "{}: stopped", doing);
    const std::size_t piece = TRY(reader(buffer.data(), buffer.size()).context(doing));
    if (piece == 0) break;
    TRY(send(libvirt, transfer.stream(), doing, {buffer.data(), piece}));
    sent += piece;
  }
  if (sent != size) return error(Code::invalid, "{}: the source has {} bytes instead of {}", doing, sent, size);
  transfer.set_running(false);
  if (libvirt.virStreamFinish(transfer.stream()) < 0) return state_->failed(doing);
  return Ok{};
}

Result<std::string> Connection::download(const sys::Context& context, const std::string& pool, const std::string& volume,
                                         std::uint64_t limit) {
  const Library& libvirt = state_->libvirt;
  const std::string doing = fmt::format("downloading volume {} of pool {}", volume, pool);
  const VolumeHandle source = TRY(state_->existing_volume(pool, volume));
  Transfer transfer(libvirt, state_->connection);
  // A length of 0 is the rest of the volume.
  if (!transfer.stream() || libvirt.virStorageVolDownload(source.get(), transfer.stream(), 0, 0, 0) < 0) {
    return state_->failed(doing);
  }
  transfer.set_running(true);
  std::vector<char> buffer(piece_size);
  std::string content;
  while (true) {
    if (context.stop.stop_requested()) return error(Code::cancelled, "{}: stopped", doing);
    const int received = libvirt.virStreamRecv(transfer.stream(), buffer.data(), buffer.size());
    if (received < 0) return state_->failed(doing);
    if (received == 0) break;
    content.append(buffer.data(), static_cast<std::size_t>(received));
    if (content.size() > limit) return error(Code::too_large, "{}: it has more than {} bytes", doing, limit);
  }
  transfer.set_running(false);
  if (libvirt.virStreamFinish(transfer.stream()) < 0) return state_->failed(doing);
  return content;
}

Result<> Connection::remove_volume(const std::string& pool_name, const std::string& name) {
  const PoolHandle pool = TRY(state_->pool(pool_name));
  if (!pool) return Ok{};
  const VolumeHandle volume = TRY(state_->volume(pool.get(), name));
  if (!volume || state_->libvirt.virStorageVolDelete(volume.get(), VIR_STORAGE_VOL_DELETE_NORMAL) == 0) return Ok{};
  const Error why = state_->failed(fmt::format("removing volume {} of pool {}", name, pool_name));
  if (why.code() == Code::not_found) return Ok{};
  return why;
}

}  // namespace slipway::provider::libvirt
