#include "cli/seed.h"

#include "base/number.h"

namespace slipway::cli {

namespace {

constexpr std::size_t least_size = 32, most_size = 1 << 20;
constexpr sys::Mode others = 077;
constexpr long long latest_second = 253'402'300'799;  // of the year 9999, the latest time that a certificate can have

}  // namespace

Option seed_option() {
  return {.name = "--seed",
          .value = "FILE",
          .help =
              "derive all random values, also keys and passwords, from this secret file of at least 32 random bytes (mode 0600); "
              "the time is $SOURCE_DATE_EPOCH, else 00:00 UTC of today. Use each seed for one cluster only"};
}

Result<Secret> read_seed(sys::Files& files, const std::string& path) {
  const std::string doing = fmt::format("--seed {}", path);
  const std::optional<sys::FileInfo> info = TRY(files.info(path).context(doing));
  if (!info) return error(Code::not_found, "{}: not found (create it with umask 077: head -c 32 /dev/urandom)", doing);
  if (info->kind != sys::FileKind::file) return error(Code::invalid, "{}: not a regular file", doing);
  if ((info->mode & others) != 0) {
    return error(Code::denied, "{}: readable by other users (mode {:04o}), who could derive every key of the cluster (chmod 600)",
                 doing, info->mode);
  }
  if (info->size < least_size || info->size > most_size) {
    return error(Code::invalid, "{}: has {} bytes, must have {} to {} random bytes", doing, info->size, least_size, most_size);
  }
  return Secret(TRY(files.read(path).context(doing)));
}

Result<WallTime> time_of_seed(std::string_view source_date_epoch, WallTime now) {
  if (source_date_epoch.empty()) return WallTime(std::chrono::floor<std::chrono::days>(now));
  const long long seconds = parse_number<long long>(source_date_epoch).value_or(-1);
  if (seconds < 0 || seconds > latest_second) {
    return error(Code::invalid, "SOURCE_DATE_EPOCH: '{}' is not a number of seconds since 1970", source_date_epoch);
  }
  return WallTime(Seconds(seconds));
}

}  // namespace slipway::cli
