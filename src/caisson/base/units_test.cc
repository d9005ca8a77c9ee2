#include "caisson/base/units.h"

#include <gtest/gtest.h>

namespace caisson {
namespace {

using std::chrono::milliseconds;

TEST(ParseBytes, ReadsPlainBytesAndUnits) {
  EXPECT_EQ(ParseBytes("1", "--memory")->value, 1U);
  EXPECT_EQ(ParseBytes("4096", "--memory")->value, 4096U);
  EXPECT_EQ(*ParseBytes("512MiB", "--memory"), MiB(512));
  EXPECT_EQ(*ParseBytes("2GiB", "--memory"), GiB(2));
  EXPECT_EQ(ParseBytes("5GB", "--memory")->value, 5'000'000'000U);
  EXPECT_EQ(ParseBytes("7kB", "--memory")->value, 7000U);
  EXPECT_EQ(ParseBytes("7KB", "--memory")->value, 7000U);
  EXPECT_EQ(ParseBytes("4EiB", "--memory")->value, 1ULL << 62U);
  EXPECT_EQ(ParseBytes("4611686018427387904", "--memory")->value, 1ULL << 62U);
}

TEST(ParseBytes, ReadsFractionsExactly) {
  EXPECT_EQ(*ParseBytes("1.5GiB", "--memory"), MiB(1536));
  EXPECT_EQ(*ParseBytes("0.50MiB", "--memory"), KiB(512));
  EXPECT_EQ(ParseBytes("0.1GB", "--memory")->value, 100'000'000U);
  EXPECT_EQ(ParseBytes("1.25EiB", "--memory")->value, 5ULL << 58U);
  EXPECT_FALSE(ParseBytes("0.1GiB", "--memory")) << "not a whole number of bytes";
  EXPECT_FALSE(ParseBytes("1.5", "--memory"));
}

TEST(ParseBytes, RefusesEverythingElse) {
  for (const char* text : {"",
                           " ",
                           "0",
                           "0GiB",
                           "-1",
                           "+1",
                           "5 g",
                           "5G ",
                           " 5GiB",
                           "5G",
                           "5gib",
                           "GiB",
                           ".5GiB",
                           "5.GiB",
                           "1.2.3GiB",
                           "1e9",
                           "1e400",
                           "NaN",
                           "inf",
                           "0x10",
                           "5GiBB",
                           "9223372036854775808",
                           "18446744073709551616",
                           "16EiB",
                           "4.5EiB",
                           "99999999999999999999999999",
                           "1.0000000000000000000000001GiB",
                           "1,5GiB",
                           "\xd9\xa1"}) {
    const Result<Bytes> bytes = ParseBytes(text, "--memory");
    ASSERT_FALSE(bytes) << "'" << text << "'";
    EXPECT_EQ(bytes.error().code(), Code::kInvalidArgument);
    EXPECT_NE(bytes.error().message().find("--memory"), std::string::npos);
    EXPECT_NE(bytes.error().cause().find("512MiB, 2GiB, 5GB or plain bytes"), std::string::npos);
    EXPECT_FALSE(bytes.error().remediation().empty());
  }
}

TEST(ParseBytes, RepeatsOnlyTheBeginningOfALongText) {
  const Result<Bytes> bytes = ParseBytes(std::string(100'000, 'x'), "--memory");
  ASSERT_FALSE(bytes);
  EXPECT_LT(bytes.error().message().size(), 200U);
}

TEST(ParseDuration, ReadsEachUnit) {
  EXPECT_EQ(*ParseDuration("250ms", "--timeout"), milliseconds(250));
  EXPECT_EQ(*ParseDuration("30s", "--timeout"), milliseconds(30'000));
  EXPECT_EQ(*ParseDuration("1.5s", "--timeout"), milliseconds(1500));
  EXPECT_EQ(*ParseDuration("10m", "--timeout"), milliseconds(600'000));
  EXPECT_EQ(*ParseDuration("2h", "--timeout"), milliseconds(7'200'000));
  EXPECT_EQ(*ParseDuration("8784h", "--timeout"), std::chrono::days(366));
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (const char* text : {"", "0", "0s", "30", "-1s", "30 s", "30s ", "0.5ms", "1.0001s", "8785h", "1d", "30S", "1e3s",
                           "nan", "9223372036854775808ms", "18446744073709551617ms", "99999999999999999999h"}) {
    const Result<milliseconds> duration = ParseDuration(text, "--timeout");
    ASSERT_FALSE(duration) << "'" << text << "'";
    EXPECT_EQ(duration.error().code(), Code::kInvalidArgument);
    EXPECT_NE(duration.error().message().find("--timeout"), std::string::npos);
  }
}

TEST(ParseCpus, ReadsThousandthsOfACore) {
  EXPECT_EQ(ParseCpus("2", "--cpus")->value, 2000U);
  EXPECT_EQ(ParseCpus("0.5", "--cpus")->value, 500U);
  EXPECT_EQ(ParseCpus("0.01", "--cpus")->value, 10U);
  EXPECT_EQ(ParseCpus("1.250", "--cpus")->value, 1250U);
  EXPECT_EQ(ParseCpus("1024", "--cpus")->value, 1'024'000U);
}

TEST(ParseCpus, RefusesEverythingElse) {
  for (const char* text : {"", "0", "0.009", "0.0101", "-1", "1024.001", "1e2", "NaN", "2 ", "2cores", ".5", "5.",
                           "9223372036854775808", "18446744073709551616"}) {
    ASSERT_FALSE(ParseCpus(text, "--cpus")) << "'" << text << "'";
  }
}

TEST(ParseCount, HoldsItsRange) {
  EXPECT_EQ(*ParseCount("1", "--pids", 1, 100), 1U);
  EXPECT_EQ(*ParseCount("100", "--pids", 1, 100), 100U);
  EXPECT_EQ(*ParseCount("18446744073709551615", "n", 0, UINT64_MAX), UINT64_MAX);
  for (const char* text : {"", "0", "101", "-1", "+1", "1.0", "1 ", "0x1", "18446744073709551616", "NaN"}) {
    const Result<std::uint64_t> count = ParseCount(text, "--pids", 1, 100);
    ASSERT_FALSE(count) << "'" << text << "'";
    EXPECT_NE(count.error().cause().find("from 1 to 100"), std::string::npos);
  }
}

TEST(FormatBytes, IsShortAndExact) {
  EXPECT_EQ(FormatBytes(GiB(2)), "2GiB");
  EXPECT_EQ(FormatBytes(MiB(1536)), "1536MiB");
  EXPECT_EQ(FormatBytes(Bytes{1000}), "1000");
  EXPECT_EQ(FormatBytes(Bytes{1ULL << 62U}), "4EiB");
  for (const std::uint64_t value : {1ULL, 1023ULL, 1024ULL, 5'000'000'000ULL, 3ULL << 41U}) {
    EXPECT_EQ(ParseBytes(FormatBytes(Bytes{value}), "x")->value, value);
  }
}

TEST(FormatDuration, IsShortAndExact) {
  EXPECT_EQ(FormatDuration(std::chrono::milliseconds(250)), "250ms");
  EXPECT_EQ(FormatDuration(std::chrono::milliseconds(1500)), "1500ms");
  EXPECT_EQ(FormatDuration(std::chrono::seconds(30)), "30s");
  EXPECT_EQ(FormatDuration(std::chrono::minutes(90)), "90m");
  EXPECT_EQ(FormatDuration(std::chrono::hours(2)), "2h");
}

TEST(FormatCpus, IsShortAndExact) {
  EXPECT_EQ(FormatCpus(MilliCpus{2000}), "2");
  EXPECT_EQ(FormatCpus(MilliCpus{500}), "0.5");
  EXPECT_EQ(FormatCpus(MilliCpus{10}), "0.01");
  EXPECT_EQ(FormatCpus(MilliCpus{1025}), "1.025");
}

}  // namespace
}  // namespace caisson
