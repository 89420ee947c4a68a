#pragma once
#include "release/image_source.h"
namespace slipway::release {
inline Result<std::string> fetch_blob(const sys::Context&, ImageSource&, const Reference&, const Descriptor&, const std::string&) { return error(Code::internal, "stub"); }
}
