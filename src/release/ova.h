// Reads an OVA: a tar archive with a virtual machine's descriptor (OVF), its disks, and a manifest with their digests.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::release {

struct OvaFile {
  std::string name;  // "disk.vmdk"
  std::uint64_t size = 0;
};

struct Ova {
  std::string descriptor{};      // text of the OVF
  std::string manifest{};        // text; empty: there is none
  std::vector<OvaFile> files{};  // the others
};

// errors: invalid: not an archive, no descriptor, or one of more than 1 MiB; those of files. time: reads the whole file
Result<Ova> read_ova(const std::string& path);

// A line of a manifest.
struct OvaDigest {
  std::string file;
  std::string algorithm;  // "sha256"
  std::string digest;     // lower-case hexadecimal
};

// Other lines are left out. Pure.
std::vector<OvaDigest> parse_ova_manifest(std::string_view text);

// One file of an OVA, in pieces. Threads: one.
class OvaStream {
 public:
  // errors: not_found: the archive has no such file; those of read_ova
  static Result<OvaStream> open(const std::string& path, const std::string& name);
  OvaStream(OvaStream&&) noexcept;
  OvaStream& operator=(OvaStream&&) noexcept;
  ~OvaStream();

  // Fills the buffer; 0 at the end. errors: invalid: the archive is broken
  Result<std::size_t> read(char* buffer, std::size_t size);

 private:
  struct State;
  explicit OvaStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace slipway::release
