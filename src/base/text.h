// Text functions that the standard library lacks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipway {

// The parts between separators. "a,,b" has three parts, an empty text has one.
std::vector<std::string_view> split(std::string_view text, char separator);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

// Removes blanks, tabs and line ends at both ends.
std::string_view trim(std::string_view text);

// ASCII only, for host names, header names, hexadecimal digits.
std::string to_lower(std::string_view text);

// Whether the text is well-formed UTF-8 (no surrogates, no overlong sequences).
bool is_utf8(std::string_view text);

// The text with U+FFFD in place of every byte that is not part of a well-formed UTF-8 sequence.
std::string to_utf8(std::string_view text);

// "1.5 GB", "312 kB", "17 B": decimal units, at most three digits.
std::string human_size(unsigned long long bytes);

// Joins arguments into a line that can be pasted into a shell.
std::string shell_quote(const std::vector<std::string>& arguments);

}  // namespace slipway
