// Which known word somebody may have meant: for hints about names that nothing has.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace slipway {

// Insertions, deletions and replacements of bytes that make one word the other. time: the product of their lengths
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known word nearest to another, without regard to case; empty when none is near, or the word is longer than 64 bytes.
std::string_view similar_word(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace slipway
