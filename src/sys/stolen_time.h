// Stolen time: the time in which the host of a virtual machine ran other guests although this machine had work to do. Timeouts
// for work that needs processors do not count it: on an overloaded host, a start of five seconds can take fifty.
#pragma once

#include "base/time.h"
#include "sys/files.h"

#include <string_view>

namespace slipway::sys {

// Stolen time since boot, as the average over all processors. Zero if the kernel does not report it. Pure.
//
//   proc_stat       content of /proc/stat (proc(5); steal is the eighth number of "cpu")
//   ticks_a_second  sysconf(_SC_CLK_TCK)
Milliseconds stolen_time(std::string_view proc_stat, long ticks_a_second);

// Stolen time of this machine since boot.
Milliseconds stolen_time(Files& files);

}  // namespace slipway::sys
