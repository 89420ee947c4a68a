#include "base/result.h"

#include "base/secret.h"

#include <gtest/gtest.h>

#include <memory>

namespace slipway {
namespace {

Result<int> half(int number) {
  if (number % 2) return error(Code::invalid, "{} is odd", number);
  return number / 2;
}

Result<int> quarter(int number) { return half(TRY(half(number))); }

Result<std::unique_ptr<int>> boxed(int number) { return std::make_unique<int>(TRY(quarter(number).context("boxing"))); }

TEST(Result, TryPassesValuesAndErrorsOn) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(6).error().message(), "3 is odd");
  EXPECT_EQ(*boxed(8).value(), 2);
}

TEST(Result, ContextComesFirst) {
  Result<int> result = half(3).context("halving").context("reading a.yaml");
  EXPECT_EQ(result.error().message(), "reading a.yaml: halving: 3 is odd");
  EXPECT_EQ(result.error().code(), Code::invalid);
  EXPECT_EQ(half(4).context("halving").value(), 2);
}

TEST(Secret, DoesNotShow) {
  const Secret secret("hunter2");
  EXPECT_EQ(fmt::format("password {}", secret), "password ***");
  EXPECT_EQ(secret.reveal(), "hunter2");
  Secret moved = secret;
  const Secret taken = std::move(moved);
  EXPECT_EQ(taken, secret);
}

}  // namespace
}  // namespace slipway
