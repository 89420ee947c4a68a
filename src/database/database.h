// Database: a SQLite database in one file, used by one process.
//
//   Database database = TRY(Database::open("state/assist.db", migrations));
//   TRY(database.transaction([&]() -> Result<> {
//     TRY(database.run("INSERT INTO host (id, body) VALUES (?, ?)", {id, body}));
//     return Ok{};
//   }));
#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace slipway::database {

// A parameter of a statement. A text may have any bytes; it is stored as TEXT, a Bytes value as BLOB.
struct Bytes {
  std::string_view value;
};
using Parameter = std::variant<std::int64_t, std::string_view, Bytes>;

// The current row of a statement. Columns count from 0. A value of another type is converted by SQLite's rules; NULL is 0 or "".
class Row {
 public:
  explicit Row(void* statement) : statement_(statement) {}
  std::int64_t number(int column) const;
  std::string text(int column) const;  // also of a BLOB

 private:
  void* statement_;
};

// Threads: one at a time.
//
//   errors  of all functions: conflict: another process has the database open; unavailable: the disk is full or cannot be
//   written;
//           invalid: the file is no database, damaged, or newer than this program; internal: a statement is wrong
class Database {
 public:
  // Opens the file with mode 0600, or creates it, checks that it is not damaged, and applies the migrations that it does not have
  // yet. Blocks on the disk: reads the whole file.
  static Result<Database> open(const std::string& path, std::span<const std::string_view> migrations);

  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  // Runs one statement. Calls `on_row` for each row of its result; an error of it ends the statement.
  Result<> run(std::string_view sql, std::initializer_list<Parameter> parameters = {},
               const std::function<Result<>(const Row& row)>& on_row = {});

  // Runs `work` in a transaction. When this returns successfully, everything that `work` wrote is on the disk. If `work` or the
  // commit fails, nothing of it is. Not nested.
  Result<> transaction(const std::function<Result<>()>& work);

  std::int64_t last_id() const;  // of the last INSERT, for tables with a number as key

 private:
  struct State;
  explicit Database(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace slipway::database
