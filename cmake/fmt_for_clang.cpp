// One function of Debian's libfmt has another symbol name in clang than in g++. FMT_HEADER_ONLY would also work, but then every
// file compiles all of fmt: 4.0 s instead of 1.9 s under the sanitizers.
#include <fmt/format.h>

template void fmt::detail::vformat_to(buffer<char>& out, fmt::string_view format,
                                      basic_format_args<FMT_BUFFER_CONTEXT(type_identity_t<char>)> arguments, locale_ref locale);
