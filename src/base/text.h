// Small work on text that the standard library leaves out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipway {

// The parts between separators; one empty part for an empty text. "a,,b" has three.
std::vector<std::string_view> split(std::string_view text, char separator);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

// Without blanks, tabs and line ends at both ends.
std::string_view trim(std::string_view text);

// ASCII only: host names, header names, hexadecimal digits.
std::string to_lower(std::string_view text);

// Whether every byte belongs to a well-formed UTF-8 sequence (no surrogates, nothing overlong).
bool is_utf8(std::string_view text);

// The text itself when it is UTF-8; otherwise with every byte that is not replaced by U+FFFD.
std::string to_utf8(std::string_view text);

// "1.5 GB", "312 kB", "17 B": decimal units, three figures at most.
std::string human_size(unsigned long long bytes);

// An argument list as a line that can be pasted into a shell.
std::string shell_quote(const std::vector<std::string>& arguments);

}  // namespace slipway
