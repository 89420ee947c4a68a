#include "ignition/unit_text.h"

#include "base/text.h"

namespace slipway::ignition {

namespace {

// Ignition rejects lines that older versions of systemd would truncate.
constexpr std::size_t line_limit = 2048;

bool continues(std::string_view line) { return line.ends_with('\\'); }

}  // namespace

Result<UnitText> read_unit_text(std::string_view text) {
  UnitText unit;
  std::string_view section;
  bool in_section = false;
  bool in_comment = false;  // the line continues a comment
  bool in_value = false;    // the line continues the value of an option
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    if (line.size() >= line_limit) return error(Code::invalid, "line {}: longer than {} bytes", number, line_limit - 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view content = trim(line);
    if (in_comment) {
      in_comment = continues(content);
    } else if (in_value) {
      in_value = continues(line);
    } else if (content.starts_with('#') || content.starts_with(';')) {
      in_comment = continues(content);
    } else if (content.starts_with('[')) {
      const std::size_t end = content.find(']');
      if (end == std::string_view::npos) return error(Code::invalid, "line {}: the name of a section is not closed", number);
      if (end + 1 != content.size()) return error(Code::invalid, "line {}: text after the name of a section", number);
      section = content.substr(1, end - 1);
      in_section = true;
    } else if (in_section && !content.empty()) {
      if (content.find('=') == std::string_view::npos) return error(Code::invalid, "line {}: '=' missing", number);
      unit.has_install |= section == "Install";
      in_value = continues(line);
    }
  }
  return unit;
}

}  // namespace slipway::ignition
