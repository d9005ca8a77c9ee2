#include "caisson/record/redactor.h"

#include <gtest/gtest.h>

#include <chrono>

#include "caisson/base/base64.h"
#include "caisson/record/key_shapes.h"

namespace caisson::record {
namespace {

constexpr const char* kValue = "Zq9#/+ü\"x\nEnd7";

std::string Hide(const std::string& text, Ending ending = Ending::kWhole) {
  return Redactor({{"API", kValue}, {"", "unnamed-value"}, {"short", "abc"}}).Hide(text, ending);
}

TEST(RedactorTest, HidesValuesByName) {
  EXPECT_EQ(Hide("a " + std::string(kValue) + " b"), "a [redacted:API] b");
  EXPECT_EQ(Hide("unnamed-valueunnamed-value"), "[redacted][redacted]");
  EXPECT_EQ(Hide("abc is too short to hide"), "abc is too short to hide");
  EXPECT_EQ(Hide(""), "");
}

TEST(RedactorTest, HidesEncodedValues) {
  for (const char* const around : {"", "x", "xy", "xyz"}) {
    const std::string encoded = Base64(around + std::string(kValue) + around);
    EXPECT_NE(Hide(encoded).find("[redacted:API]"), std::string::npos) << encoded;
  }
  EXPECT_EQ(Hide("u=Zq9%23%2f%2B%c3%BC%22x%0AEnd7&"), "u=[redacted:API]&");
  EXPECT_EQ(Hide(R"({"v":"Zq9#\/+\u00fc\"x\nEnd7"})"), R"({"v":"[redacted:API]"})");
  EXPECT_EQ(Hide(R"(unnamed\x2dvalue)"), "[redacted]");
}

TEST(RedactorTest, HidesValuesBrokenOverLines) {
  EXPECT_EQ(Hide("unnamed-\nval\r\nue\n"), "[redacted]\n");
  const std::string encoded = Base64(std::string(20, 'a') + "unnamed-value" + std::string(20, 'b'));
  EXPECT_NE(Hide(encoded.substr(0, 30) + "\n" + encoded.substr(30)).find("[redacted]"), std::string::npos);
}

TEST(RedactorTest, HidesTheBeginningOfAValueWhereATextWasCut) {
  EXPECT_EQ(Hide("tail unnamed-va", Ending::kCut), "tail [redacted]");
  EXPECT_EQ(Hide("tail unnamed-va", Ending::kWhole), "tail unnamed-va");
  EXPECT_EQ(Hide("tail unn", Ending::kCut), "tail unn") << "three characters give nothing away";
  EXPECT_EQ(Hide("key ghp_abc", Ending::kCut), "key [redacted]");
  EXPECT_EQ(Hide("key ghp", Ending::kCut), "key [redacted]");
}

TEST(RedactorTest, OverlappingValuesAreOnePart) {
  const Redactor redactor({{"A", "abcdef"}, {"B", "defghi"}, {"C", "cdef"}});
  EXPECT_EQ(redactor.Hide("xabcdefghix", Ending::kWhole), "x[redacted:A]x");
  EXPECT_EQ(redactor.Hide("cdefcdef", Ending::kWhole), "[redacted:C][redacted:C]");
}

TEST(RedactorTest, ANameNeverShowsAValue) {
  const Redactor redactor({{"hunter22", "hunter22"}, {"a\x1b[1m", "second-value"}, {"has-hunter22", "third-value"}});
  EXPECT_EQ(redactor.Hide("hunter22 second-value third-value", Ending::kWhole), "[redacted] [redacted] [redacted]");
}

TEST(RedactorTest, HidesShapesOfKeys) {
  const std::string long_run(40, 'a');
  const std::string pem = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----";
  const std::pair<std::string, std::string> kCases[] = {
      {"AKIAIOSFODNN7EXAMPLE", "[redacted]"},
      {"id=AKIAIOSFODNN7EXAMPLE;", "id=[redacted];"},
      {"ghp_" + long_run + " x", "[redacted] x"},
      {"gho_" + long_run, "[redacted]"},
      {"github_pat_11ABCDEFG0_" + long_run, "[redacted]"},
      {"'sk-proj-" + long_run + "A1'", "'[redacted]'"},
      {"sk-ant-api03-" + long_run, "[redacted]"},
      {"xoxb-123456789012-abc", "[redacted]"},
      {"AIza" + long_run, "[redacted]"},
      {"sk_live_" + long_run, "[redacted]"},
      {"a\\nghp_" + long_run, "a\\n[redacted]"},
      {"a%20ghp_" + long_run, "a%20[redacted]"},
      {"eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl rest", "[redacted] rest"},
      {"a " + pem + " b", "a [redacted] b"},
      {"-----BEGIN RSA PRIVATE KEY-----\nMIIE", "[redacted]"},
      {"Authorization: Bearer abc\nnext", "Authorization: [redacted]\nnext"},
      {"curl -H 'Authorization: Basic dTpw' x", "curl -H 'Authorization: [redacted]' x"},
      {"x bearer abcdefghijklmnop1", "x [redacted]"},
      {"password=hunter2 next", "password=[redacted] next"},
      {"?api_key=abc&x=1", "?api_key=[redacted]&x=1"},
      {"DB_PASSWORD='a b' c", "DB_PASSWORD='[redacted]' c"},
      {"{\"token\": \"a\\\"b\", \"c\": 1}", "{\"token\": \"[redacted]\", \"c\": 1}"},
      {R"("{\"token\":\"ab\",\"c\":1}")", R"("{\"token\":\"[redacted]\",\"c\":1}")"},
      {"  secret: abc\n", "  secret: [redacted]\n"},
      {"x-api-key: abc", "x-api-key: [redacted]"},
      {"tool --password hunter2 --x", "tool --password [redacted] --x"},
      {"MYSQL_PWD=abc", "MYSQL_PWD=[redacted]"},
      {"git clone https://me:pa:ss@host/x", "git clone https://me:[redacted]@host/x"},
  };
  for (const auto& [text, hidden] : kCases) EXPECT_EQ(Redactor().Hide(text, Ending::kWhole), hidden) << text;
}

TEST(RedactorTest, LeavesWhatOnlyLooksLikeAKey) {
  for (const char* const text : {"AKIAIOSFODNN7EXAMPL",
                                 "AKIAIOSFODNN7EXAMPLEX",
                                 "xAKIAIOSFODNN7EXAMPLE",
                                 "AKIAiosfodnn7example",
                                 "ghp_short",
                                 "sk-toolbar-button-primary-large-1",
                                 "risk-Assessment1-of-the-whole-company",
                                 "xoxo-love-and-kisses",
                                 "eyJ is how it begins",
                                 "eyJhbGciOiJI.eyJzdWIiOiIx",
                                 "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
                                 "-----BEGIN CERTIFICATE-----",
                                 "error: unexpected token: }",
                                 "max_tokens=100",
                                 "PWD=/home/agent",
                                 "OLDPWD=/tmp",
                                 "if (token == kEnd)",
                                 "token = next();",
                                 "password=",
                                 "password=$PASSWORD x",
                                 "token: null\n",
                                 "secret=${A}",
                                 "https://host:8080/a@b",
                                 "https://git@host/x",
                                 "ssh://host",
                                 "Token::kEnd",
                                 "the password is not here",
                                 "bearer of bad news",
                                 "keyboard=us",
                                 "tokenizer=bert"}) {
    EXPECT_EQ(Redactor().Hide(text, Ending::kWhole), text);
  }
}

TEST(RedactorTest, KnowsSecretNames) {
  for (const char* const name :
       {"password", "DB_PASSWORD", "x-api-key", "apiKey", "client_secret", "Authorization", "my_pwd"}) {
    EXPECT_TRUE(IsSecretName(name)) << name;
  }
  for (const char* const name : {"", "tokens", "PWD", "OLDPWD", "passwords_file", "key", "monkey"}) {
    EXPECT_FALSE(IsSecretName(name)) << name;
  }
}

// What takes quadratic time anywhere takes minutes here, and the time limit of the test ends it.
TEST(RedactorTest, HostileTextsTakeLinearTime) {
  constexpr std::size_t kSize = 4U << 20U;
  const Redactor redactor({{"A", std::string(2000, 'a') + "b"}, {"B", std::string(1000, 'a')}, {"C", "sk-sk-sk-"}});
  for (const std::string part :
       {"a", "token=", "token==", "password=\"", "password='\"", "sk-", "\\nsk-", "eyJaaaaaaaa.",
        "://a:", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "Authorization:", "\\\"token\\\":\\\"", "token=(", "%61",
        "\\u0061", "\n", "bearer a"}) {
    std::string text;
    while (text.size() < kSize) text += part;
    (void)redactor.Hide(text, Ending::kCut);
  }
}

}  // namespace
}  // namespace caisson::record
