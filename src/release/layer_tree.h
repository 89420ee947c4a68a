// Puts the layers of an image onto a directory tree, as container runtimes do.
#pragma once

#include "base/result.h"
#include "release/digest.h"
#include "sys/context.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace slipway::release {

struct LayerFile {
  std::string path;                 // a tar archive: plain, or compressed with gzip or zstd
  std::optional<Digest> diff_id{};  // of the archive without compression, from rootfs.diff_ids of the image's config

  // Called with the path of each entry, relative to the root: "usr/bin/x", "" for the root itself; for a whiteout, the path that
  // it removes or empties. An entry that is not wanted is skipped. Each entry counts alone, so entries below a directory that is
  // not wanted need the same answer. Without a function, all entries are wanted.
  std::function<bool(std::string_view path)> wanted{};
};

// Applies a layer to the tree, a directory that exists. Call it for each layer of an image, the lowest first.
//
// - A file, a link or a new directory replaces what the path had, including a directory with content. It is a new file: nothing
//   that exists is written to or gets other attributes, so the tree may consist of hard links into an OSTree repository. The
//   only exception are directories: they keep their content and get owner, mode and extended attributes of the entry.
// - A whiteout (".wh.NAME", or a character device 0/0 NAME as overlayfs has it) removes NAME, ".wh..wh..opq" the content of its
//   directory. Both affect only what the tree had before this call, whatever the order of the entries is. Other names that begin
//   with ".wh..wh." are notes of AUFS and are skipped.
// - A symbolic link in the path of an entry's parent, of a whiteout's or of a hard link's target is followed as if the tree were
//   the root of the file system: with "lib -> usr/lib" or "lib -> /usr/lib" in the tree, the entry "lib/x" becomes "usr/lib/x".
//   Nothing outside of the tree is read or written. An absolute name is relative to the tree.
// - Owners (by number), modes with setuid bits, extended attributes (security.capability) and holes are kept; times and the
//   label of SELinux are not. Hard links are links to files of this layer or of the tree, and their attributes do not change.
//
//   errors   invalid: not an archive, a corrupt archive, another digest than diff_id (with both); with the path: a name with
//            "..", a whiteout of nothing, a device, fifo or socket (OSTree cannot hold them), a hard link to nothing or to a
//            directory, a parent that is a symbolic link to nothing; conflict: a parent is a file; denied: not root;
//            unavailable: the disk is full; cancelled. After an error the tree is incomplete: discard it
//   time     blocks on disk only; returns after the current piece of a file after a stop request. Nothing is synced
//   threads  one for each tree, and nobody else may change the tree
Result<> apply_layer(const sys::Context& context, const LayerFile& layer, const std::string& tree);

}  // namespace slipway::release
