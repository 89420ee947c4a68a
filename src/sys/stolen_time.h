// Time that the host of a virtual machine gave to somebody else while a processor was wanted here. Patience with what needs
// processors is counted without it: a start of five seconds may take fifty on a host that is overcrowded.
#pragma once

#include "base/time.h"
#include "sys/files.h"

#include <string_view>

namespace slipway::sys {

// Since the boot, of one processor on average. Zero where the kernel does not tell. Pure.
//
//   proc_stat       as /proc/stat has it (proc(5), the eighth figure of "cpu")
//   ticks_a_second  sysconf(_SC_CLK_TCK)
Milliseconds stolen_time(std::string_view proc_stat, long ticks_a_second);

// Of this machine, up to now.
Milliseconds stolen_time(Files& files);

}  // namespace slipway::sys
