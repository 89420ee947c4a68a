#include "config/wizard.h"

#include "base/check.h"
#include "base/number.h"
#include "base/template.h"
#include "base/text.h"
#include "base/yaml.h"
#include "config/install_config.h"
#include "config/platforms.h"
#include "config/wizard_questions.h"

#include <algorithm>

namespace slipway::config {

namespace {

constexpr std::string_view no_logins = R"({"auths":{}})";
constexpr int most_hosts = 100;

// Hosts of a control plane, if there are enough hosts.
constexpr int usual_masters = 3;

const std::vector<std::string>& supported_platforms() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const PlatformRow& row : platforms()) {
      if (!row.api_type.empty()) all.emplace_back(row.name);
    }
    return all;
  }();
  return names;
}

using Answers = std::map<std::string, std::string, std::less<>>;

std::string_view answer_to(const Answers& answers, std::string_view name) {
  const auto found = answers.find(name);
  return found == answers.end() ? std::string_view() : std::string_view(found->second);
}

int number_in(std::string_view text) { return parse_number<int>(text).value_or(-1); }

// A row, and for rows that are asked for each host, the host.
struct QuestionInstance {
  const QuestionRow* row;
  int host = -1;  // from 0; -1: the row is not about a host

  std::string name() const { return host < 0 ? std::string(row->name) : fmt::format("{}_{}", row->name, host); }
};

bool applies_to(const QuestionRow& row, std::string_view platform) {
  const std::vector<std::string_view> names = split(row.platforms, '|');
  return row.platforms.empty() || std::ranges::find(names, platform) != names.end();
}

// All questions, given these answers, in order. Consecutive rows about hosts are asked together, host by host.
std::vector<QuestionInstance> questions_after(const Answers& answers) {
  const std::string_view platform = answer_to(answers, platform_question);
  std::vector<QuestionInstance> all;
  std::vector<const QuestionRow*> of_hosts;
  for (const QuestionRow& row : question_rows()) {
    if (!applies_to(row, platform)) continue;
    if (row.is_of_host) {
      of_hosts.push_back(&row);
      continue;
    }
    if (!of_hosts.empty()) {
      for (int host = 0; host < number_in(answer_to(answers, hosts_question)); ++host) {
        for (const QuestionRow* each : of_hosts) all.push_back({each, host});
      }
      of_hosts.clear();
    }
    all.push_back({&row});
  }
  return all;
}

// The values for the templates of a row.
TemplateValues values_for(const Answers& answers, const QuestionInstance& question) {
  TemplateValues values(answers.begin(), answers.end());
  if (question.host < 0) return values;
  values.emplace("INDEX", std::to_string(question.host));
  values.emplace(question.row->name, answer_to(answers, question.name()));
  return values;
}

struct Filled {
  std::string field;
  std::string value;
};

// The fields that the answer to a question sets; none if the answer is empty.
std::vector<Filled> fields_of(const Answers& answers, const QuestionInstance& question) {
  std::vector<Filled> fields;
  if (answer_to(answers, question.name()).empty()) return fields;
  const TemplateValues values = values_for(answers, question);
  for (const Fill& fill : question.row->fills) {
    Result<std::string> field = fill_template(fill.field, "a field", values);
    Result<std::string> value = fill_template(fill.value, "an answer", values);
    CHECK(field.ok() && value.ok());
    fields.push_back({std::move(field).value(), std::move(value).value()});
  }
  return fields;
}

// Sets the field at a path, "a.b[0].c". Creates objects and items on the path.
void set_field(Json& document, std::string_view path, Json value) {
  Json* at = &document;
  for (const std::string_view part : split(path, '.')) {
    const std::size_t bracket = part.find('[');
    at = &at->as_object()[part.substr(0, bracket)];
    if (bracket != std::string_view::npos) {
      const int index = number_in(part.substr(bracket + 1, part.size() - bracket - 2));
      if (!at->is_array()) *at = JsonArray();
      JsonArray& items = at->as_array();
      while (items.size() <= static_cast<std::size_t>(index)) items.emplace_back(nullptr);
      at = &items[static_cast<std::size_t>(index)];
    }
    if (at->is_null()) *at = JsonObject();
  }
  *at = std::move(value);
}

Json document_of(const Answers& answers) {
  Json document = {{"apiVersion", "v1"}};
  const std::string_view platform = answer_to(answers, platform_question);
  if (!platform.empty()) document.as_object()["platform"] = {{platform, JsonObject()}};
  for (const QuestionInstance& question : questions_after(answers)) {
    for (Filled& filled : fields_of(answers, question)) set_field(document, filled.field, Json(filled.value));
  }
  if (const int hosts = number_in(answer_to(answers, hosts_question)); hosts > 0) {
    const int masters = hosts < usual_masters ? 1 : usual_masters;
    set_field(document, "controlPlane", {{"name", "master"}, {"replicas", masters}});
    document.as_object()["compute"] = JsonArray{{{"name", "worker"}, {"replicas", hosts - masters}}};
  }
  return document;
}

// Whether the field of a finding is this field, a field inside of it, or the list that contains it.
bool is_about(std::string_view finding, std::string_view field) {
  const bool is_inside = finding.starts_with(field) &&
                         (finding.size() == field.size() || finding[field.size()] == '.' || finding[field.size()] == '[');
  return is_inside || (field.ends_with(']') && finding == field.substr(0, field.rfind('[')));
}

// The errors of the document that are about these fields, one per item.
std::vector<std::string> problems_of(const Json& document, const std::vector<Filled>& fields) {
  std::vector<std::string> problems;
  const Findings findings = check_install_config(emit_yaml(document), "answers");
  for (const Finding& finding : findings.all()) {
    const bool is_of_these = std::ranges::any_of(fields, [&](const Filled& each) { return is_about(finding.field, each.field); });
    if (finding.severity != Severity::error || !is_of_these) continue;
    problems.push_back(finding.hint.empty() ? finding.message : fmt::format("{} ({})", finding.message, finding.hint));
  }
  return problems;
}

bool is_invalid(const PublicKey& key) { return !problems_of({{"sshKey", key.line}}, {{"sshKey", key.line}}).empty(); }

}  // namespace

Wizard::Wizard(std::vector<PublicKey> keys) : keys_(std::move(keys)) { std::erase_if(keys_, is_invalid); }

std::optional<Question> Wizard::next() const {
  for (const QuestionInstance& instance : questions_after(answers_)) {
    const QuestionRow& row = *instance.row;
    if (answers_.contains(instance.name()) || (row.name == ssh_key_question && keys_.empty())) continue;
    Question question{
        .name = instance.name(),
        .words = instance.host < 0 ? std::string(row.words) : fmt::format("Host {}, {}", instance.host + 1, row.words),
        .fallback = std::string(row.fallback),
        .is_secret = row.is_secret,
        .is_optional = row.is_optional};
    if (row.name == platform_question) question.choices = supported_platforms();
    if (row.name == ssh_key_question) {
      question.choices.emplace_back(no_ssh_key);
      for (const PublicKey& key : keys_) question.choices.push_back(key.path);
    }
    if (row.name == pull_secret_question && answer_to(answers_, platform_question) == "local") question.fallback = no_logins;
    return question;
  }
  return std::nullopt;
}

Result<> Wizard::answer(std::string_view text) {
  const std::optional<Question> question = next();
  CHECK(question.has_value());
  std::string given(trim(text));
  if (given.empty()) given = question->fallback;
  if (given.empty() && !question->is_optional) return error(Code::invalid, "an answer is required");
  if (!question->choices.empty()) {
    const int number = number_in(given);
    if (number >= 1 && number <= static_cast<int>(question->choices.size())) given = question->choices[number - 1u];
    if (std::ranges::find(question->choices, given) == question->choices.end()) {
      return error(Code::invalid, "'{}' is not one of these (enter a number from 1 to {} or a name)", given,
                   question->choices.size());
    }
  }
  if (question->name == hosts_question && (number_in(given) < 1 || number_in(given) > most_hosts)) {
    return error(Code::invalid, "'{}' is not a number from 1 to {}", given, most_hosts);
  }
  if (question->name == ssh_key_question) {
    const auto key = std::ranges::find(keys_, given, &PublicKey::path);
    given = key == keys_.end() ? "" : key->line;
  }

  Answers tried = answers_;
  tried.insert_or_assign(question->name, given);
  const std::vector<QuestionInstance> all = questions_after(tried);
  const auto instance = std::ranges::find_if(all, [&](const QuestionInstance& each) { return each.name() == question->name; });
  CHECK(instance != all.end());
  const std::vector<std::string> problems = problems_of(document_of(tried), fields_of(tried, *instance));
  if (!problems.empty()) return error(Code::invalid, "{}", join(problems, "\n"));
  answers_ = std::move(tried);
  return Ok{};
}

std::string Wizard::install_config() const { return emit_yaml(document_of(answers_)); }

}  // namespace slipway::config
