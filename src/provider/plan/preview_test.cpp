#include "provider/plan/preview.h"

#include "provider/plan/apply.h"
#include "support/fake_platform.h"
#include "support/test_context.h"
#include "sys/files.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

namespace slipway::provider::plan {
namespace {

using testing_support::FakePlatform;
using testing_support::TestContext;

Plan sample_plan() {
  return {{.kind = "network", .name = "c1-net"},
          {.kind = "volume", .name = "c1-disk", .machine = "bootstrap", .needs = {"network/c1-net"}},
          {.kind = "machine", .name = "c1-bootstrap", .machine = "bootstrap", .needs = {"volume/c1-disk"}}};
}

std::vector<Action> actions(const std::vector<Change>& changes) {
  std::vector<Action> all;
  for (const Change& change : changes) all.push_back(change.action);
  return all;
}

class PreviewTest : public testing::Test {
 protected:
  Result<> run() {
    Journal journal = TRY(Journal::open(test.clock, path()));
    return apply(test.context(), platform, journal, sample_plan());
  }
  std::vector<Action> preview() {
    const auto states = Journal::read(path());
    EXPECT_TRUE(states.ok());
    const auto changes = preview_changes(test.context(), platform, states.value(), sample_plan());
    EXPECT_TRUE(changes.ok());
    return actions(changes.value());
  }
  std::string path() const { return folder.path() + "/resources.jsonl"; }

  TestContext test;
  FakePlatform platform;
  sys::TempDir folder = sys::TempDir::make("preview-test").value();
};

TEST_F(PreviewTest, SaysWhatApplyDoes) {
  EXPECT_EQ(preview(), (std::vector<Action>{Action::create, Action::create, Action::create}));
  EXPECT_FALSE(sys::RealFiles().info(path()).value()) << "a preview writes nothing";
  platform.fail = [](const std::string& call) -> std::optional<Error> {
    return call == "create machine/c1-bootstrap" ? std::optional(Error(Code::invalid, "no")) : std::nullopt;
  };
  EXPECT_FALSE(run().ok());
  EXPECT_EQ(preview(), (std::vector<Action>{Action::keep, Action::keep, Action::create}));
  platform.fail = {};
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(preview(), (std::vector<Action>{Action::keep, Action::keep, Action::keep}));
}

TEST_F(PreviewTest, RefreshRecordsAndForgets) {
  ASSERT_TRUE(run().ok());
  platform.items.erase(platform.items.begin() + 2);
  ASSERT_TRUE(sys::RealFiles().append(path(), "{\"resource\":\"volume/c1-lost\",\"state\":\"begun\"}\n", 0600).ok());
  Journal journal = Journal::open(test.clock, path()).value();
  const auto drift = refresh(test.context(), platform, journal);
  ASSERT_TRUE(drift.ok());
  EXPECT_EQ(drift->gone, (std::vector<std::string>{"machine/c1-bootstrap", "volume/c1-lost"}));
  EXPECT_TRUE(drift->unrecorded.empty());
  EXPECT_EQ(journal.state_of("machine/c1-bootstrap"), Journal::State::unknown);
  EXPECT_EQ(refresh(test.context(), platform, journal).value(), Drift());
}

TEST_F(PreviewTest, RefreshKnowsWhatOtherClustersUseToo) {
  const Resource image{.kind = "image", .name = "os", .is_shared = true};
  platform.items.push_back({.resource = image, .owner = std::string(FakePlatform::shared_owner), .is_complete = true});
  const Resource user{.kind = "machine", .name = "c2-m", .needs = {"image/os"}};
  platform.items.push_back({.resource = user, .owner = "c2", .is_complete = true});
  Journal journal = Journal::open(test.clock, path()).value();
  ASSERT_TRUE(journal.created("image/os").ok());
  EXPECT_EQ(refresh(test.context(), platform, journal).value(), Drift());
  EXPECT_EQ(journal.state_of("image/os"), Journal::State::created);
}

TEST(Decide, NeverTakesWhatIsNotOurs) {
  const Found other{.kind = "network", .name = "n", .is_ours = false, .is_whole = true};
  EXPECT_EQ(decide(other, Journal::State::created), Action::refuse);
  const Found part{.kind = "network", .name = "n", .is_ours = true};
  EXPECT_EQ(decide(part, Journal::State::begun), Action::replace);
  EXPECT_EQ(decide(part, Journal::State::created), Action::keep);
  EXPECT_EQ(decide(std::nullopt, Journal::State::created), Action::create);
}

const Json prices = {
    {"date", "2025-06-01"}, {"currency", "USD"}, {"of", "list prices"}, {"hourly", {{"machine/a", 0.5}, {"nat", 1}}}};

TEST(Costs, AddUpByItem) {
  const auto costs = costs_of({{"machine/a", 1}, {"nat", 1}, {"machine/a", 2}, {"machine/b", 1}}, prices);
  ASSERT_TRUE(costs.ok()) << costs.error().message();
  EXPECT_DOUBLE_EQ(costs->total(), 2.5);
  EXPECT_EQ(costs->rows.size(), 3u);
  EXPECT_EQ(costs->without_price(), (std::vector<std::string>{"machine/b"}));
}

TEST(Costs, NeedACompletePriceFile) {
  EXPECT_EQ(costs_of({}, {{"currency", "USD"}}).error().message(), "price file: date: missing, must be a string");
  const Json wrong = {{"date", "d"}, {"currency", "c"}, {"of", "o"}, {"hourly", {{"nat", "much"}}}};
  EXPECT_EQ(costs_of({{"nat", 1}}, wrong).error().message(), "price file of d: hourly.nat: must be a number");
}

TEST(PreviewText, NamesEverythingThatMatters) {
  Preview preview{.place = "aws us-east-1"};
  preview.changes = {
      {.action = Action::create, .key = "machine/c1-bootstrap", .machine = "bootstrap", .calls = {"EC2 RunInstances"}},
      {.action = Action::keep, .key = "vpc/c1-vpc"}};
  preview.quotas = {{.what = "VPCs", .needed = 1, .used = 5, .limit = 5}, {.what = "vCPUs", .needed = 4}};
  preview.user_data = {{.machine = "bootstrap", .bytes = 300000, .limit = 16000, .has_pointer = true}};
  preview.missing_permissions = {"ec2:RunInstances"};
  EXPECT_TRUE(preview.has_work());
  const std::string text = preview_text(preview, costs_of({{"machine/a", 3}}, prices).value());
  EXPECT_EQ(text,
            "On aws us-east-1:\n"
            "  create   machine/c1-bootstrap (removed at the end of the bootstrap)\n"
            "  1 to create, 0 to replace, 1 exist; 1 calls change something\n"
            "Quotas:\n"
            "  VPCs: 1 needed, 5 of 5 used: not enough\n"
            "  vCPUs: 4 needed, 0 of an unknown number used\n"
            "User data:\n"
            "  bootstrap: 300000 of 16000 bytes: too large, the machine fetches it\n"
            "Missing permission: ec2:RunInstances\n"
            "Estimated cost: 1.500 USD an hour (list prices; as of 2025-06-01)\n"
            "         3 x machine/a                    0.500000\n");
  const Json json = preview_json(preview, std::nullopt);
  EXPECT_EQ(text_of(json.at("changes").at(0), {"action"}), "create");
  EXPECT_TRUE(json.at("costs").is_null());
  EXPECT_TRUE(json.at("quotas").at(1).at("limit").is_null());
}

}  // namespace
}  // namespace slipway::provider::plan
