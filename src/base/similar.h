// Suggestions for misspelled names.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace slipway {

// Number of insertions, deletions and replacements of bytes that turn one word into the other. time: product of the lengths
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known word that is most similar, ignoring case; empty if none is similar or the word is longer than 64 bytes.
std::string_view similar_word(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace slipway
