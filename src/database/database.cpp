#include "database/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>

namespace slipway::database {

namespace {

struct Close {
  void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
};
struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Handle = std::unique_ptr<sqlite3, Close>;
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

Code code_of(int result) {
  switch (result & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return Code::conflict;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY: return Code::unavailable;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT: return Code::invalid;
    default: return Code::internal;
  }
}

constexpr std::string_view hint_of_damage = " (restore a copy of the file, or move it away to begin with an empty one)";

// The file is made here, because SQLite would make it with the mode of the umask.
Result<> make_private_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return error(Code::unavailable, "database {}: cannot be opened: {}", path, sqlite3_errstr(SQLITE_CANTOPEN));
  const bool is_private = ::fchmod(file, 0600) == 0;
  ::close(file);
  if (!is_private) return error(Code::unavailable, "database {}: its mode cannot be set to 0600", path);
  return Ok{};
}

}  // namespace

std::int64_t Row::number(int column) const { return sqlite3_column_int64(static_cast<sqlite3_stmt*>(statement_), column); }

std::string Row::text(int column) const {
  auto* statement = static_cast<sqlite3_stmt*>(statement_);
  const void* bytes = sqlite3_column_blob(statement, column);
  const int size = sqlite3_column_bytes(statement, column);
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

struct Database::State {
  std::string path;
  Handle handle;
  std::map<std::string, Statement, std::less<>> statements;  // after the handle: they are finalized first

  Error failed(int result) const {
    const std::string_view text = handle ? sqlite3_errmsg(handle.get()) : sqlite3_errstr(result);
    if ((result & 0xff) == SQLITE_BUSY) return error(Code::conflict, "database {}: in use by another process", path);
    const Code code = code_of(result);
    return error(code, "database {}: {}{}", path, text, code == Code::invalid ? hint_of_damage : "");
  }

  Result<> execute(const std::string& sql) {
    const int result = sqlite3_exec(handle.get(), sql.c_str(), nullptr, nullptr, nullptr);
    if (result != SQLITE_OK) return failed(result);
    return Ok{};
  }

  Result<sqlite3_stmt*> statement(std::string_view sql) {
    const auto known = statements.find(sql);
    if (known != statements.end()) return known->second.get();
    sqlite3_stmt* made = nullptr;
    const int result =
        sqlite3_prepare_v3(handle.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &made, nullptr);
    if (result != SQLITE_OK) return failed(result);
    statements[std::string(sql)].reset(made);
    return made;
  }
};

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const std::string& path, std::span<const std::string_view> migrations) {
  TRY(make_private_file(path));
  auto state = std::make_unique<State>();
  state->path = path;
  sqlite3* handle = nullptr;
  const int opened =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  state->handle.reset(handle);
  if (opened != SQLITE_OK) return state->failed(opened);
  // The lock comes before the journal mode: the write-ahead log then needs no shared memory, and a second process is refused.
  TRY(
      state->execute("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; "
                     "PRAGMA trusted_schema=OFF; PRAGMA secure_delete=ON; BEGIN IMMEDIATE; COMMIT"));
  Database database(std::move(state));
  std::int64_t version = 0;
  TRY(database.run("PRAGMA user_version", {}, [&](const Row& row) -> Result<> {
    version = row.number(0);
    return Ok{};
  }));
  if (version > static_cast<std::int64_t>(migrations.size())) {
    return error(Code::invalid, "database {}: a newer program wrote it (schema {}, this program knows {}): use that program",
                 path, version, migrations.size());
  }
  std::string damage;
  TRY(database.run("PRAGMA quick_check(1)", {}, [&](const Row& row) -> Result<> {
    damage = row.text(0);
    return Ok{};
  }));
  if (damage != "ok") return error(Code::invalid, "database {}: is damaged: {}{}", path, damage, hint_of_damage);
  for (auto next = static_cast<std::size_t>(version); next < migrations.size(); ++next) {
    TRY(database
            .transaction([&]() -> Result<> {
              TRY(database.state_->execute(std::string(migrations[next])));
              return database.state_->execute(fmt::format("PRAGMA user_version={}", next + 1));
            })
            .context(fmt::format("migration {}", next + 1)));
  }
  return database;
}

Result<> Database::run(std::string_view sql, std::initializer_list<Parameter> parameters,
                       const std::function<Result<>(const Row& row)>& on_row) {
  sqlite3_stmt* statement = TRY(state_->statement(sql));
  struct Reset {
    sqlite3_stmt* statement;
    ~Reset() {
      sqlite3_reset(statement);
      sqlite3_clear_bindings(statement);
    }
  } const reset{statement};
  int index = 0;
  for (const Parameter& parameter : parameters) {
    ++index;
    int bound = SQLITE_OK;
    if (const auto* number = std::get_if<std::int64_t>(&parameter)) {
      bound = sqlite3_bind_int64(statement, index, *number);
    } else if (const auto* text = std::get_if<std::string_view>(&parameter)) {
      bound = sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
    } else {
      const std::string_view bytes = std::get<Bytes>(parameter).value;
      bound = sqlite3_bind_blob64(statement, index, bytes.empty() ? "" : bytes.data(), bytes.size(), SQLITE_STATIC);
    }
    if (bound != SQLITE_OK) return state_->failed(bound);
  }
  for (;;) {
    const int result = sqlite3_step(statement);
    if (result == SQLITE_DONE) return Ok{};
    if (result != SQLITE_ROW) return state_->failed(result);
    if (on_row) TRY(on_row(Row(statement)));
  }
}

Result<> Database::transaction(const std::function<Result<>()>& work) {
  TRY(state_->execute("BEGIN IMMEDIATE"));
  Result<> result = work();
  if (result.ok()) result = state_->execute("COMMIT");
  // SQLite ends a transaction by itself after some errors, for instance when the disk is full.
  if (!result.ok() && sqlite3_get_autocommit(state_->handle.get()) == 0) (void)state_->execute("ROLLBACK");
  return result;
}

std::int64_t Database::last_id() const { return sqlite3_last_insert_rowid(state_->handle.get()); }

}  // namespace slipway::database
