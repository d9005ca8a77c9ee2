#include "caisson/record/body.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "caisson/base/base64.h"
#include "caisson/base/utf8.h"
#include "caisson/record/chain.h"
#include "caisson/record/limits.h"

namespace caisson::record {
namespace {

namespace json = boost::json;

constexpr const char* kValue = "Zq9-planted-value-7";

Redactor Planted() { return Redactor(std::vector<Secret>{{"API", kValue}}); }

// The record of an entry, after what must hold for every one.
json::object Read(const Entry& entry, const Redactor& redactor = Planted()) {
  const SandboxId id = SandboxId::Random();
  const std::string line = MakeLine(id, FirstHead(id), entry.time, BodyOf(entry, redactor)).text;
  EXPECT_LE(line.size(), kLongestLine + 1);
  EXPECT_EQ(line.find('\n'), line.size() - 1) << "one line";
  EXPECT_TRUE(IsUtf8(line));
  for (const char c : line.substr(0, line.size() - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    EXPECT_TRUE(byte >= 0x20 && byte != 0x7F) << static_cast<int>(byte);
  }
  EXPECT_EQ(line.find(kValue), std::string::npos);
  boost::system::error_code failed;
  const json::value value = json::parse(line, failed);
  EXPECT_FALSE(failed) << failed.message() << line.substr(0, 300);
  return failed ? json::object() : value.as_object();
}

std::string Serialized(const json::object& record, const char* key) { return json::serialize(record.at(key)); }

Stream StreamOf(const std::string& text) { return {.text = text, .size = {text.size()}, .sha256 = Sha256Of(text)}; }

Entry Whole() {
  Entry entry;
  entry.time = Time(std::chrono::milliseconds(1798761599999));
  entry.tenant = "acme";
  entry.caller = "key_1";
  entry.face = Face::kMcp;
  entry.tool = "run_command";
  entry.args = R"({"command":"ls","timeout":30})";
  entry.decision = Decision{"allow", "toolchain", "policy.toml:14", {}};
  entry.outcome = "exited";
  entry.exit_code = 1;
  entry.duration = std::chrono::microseconds(12400);
  entry.standard_output = StreamOf("out\n");
  entry.standard_error = StreamOf("");
  entry.files_changed = {{"/home/agent/workspace/out.csv", "created", "file", Bytes{120}},
                         {"/tmp/\xff", "deleted", "file", {}}};
  entry.hints = {"command_not_found"};
  entry.checkpoint = "cp_1";
  return entry;
}

TEST(BodyTest, HoldsTheWholeStep) {
  const json::object record = Read(Whole());
  EXPECT_EQ(Serialized(record, "ts"), "\"2026-12-31T23:59:59.999Z\"");
  EXPECT_EQ(Serialized(record, "seq"), "1");
  EXPECT_EQ(Serialized(record, "tenant"), "\"acme\"");
  EXPECT_EQ(Serialized(record, "caller"), "\"key_1\"");
  EXPECT_EQ(Serialized(record, "face"), "\"mcp\"");
  EXPECT_EQ(Serialized(record, "kind"), "\"step\"");
  EXPECT_EQ(Serialized(record, "tool"), "\"run_command\"");
  EXPECT_EQ(Serialized(record, "args"), R"({"command":"ls","timeout":30})");
  EXPECT_EQ(Serialized(record, "decision"),
            R"({"effect":"allow","rule":"toolchain","source":"policy.toml:14","reason":null})");
  EXPECT_EQ(Serialized(record, "outcome"), "\"exited\"");
  EXPECT_EQ(Serialized(record, "exit_code"), "1");
  EXPECT_EQ(record.at("duration_ms").as_double(), 12.4);
  EXPECT_EQ(Serialized(record, "stdout"), "\"out\\n\"");
  EXPECT_EQ(Serialized(record, "stderr"), "\"\"");
  EXPECT_EQ(Serialized(record, "stdout_bytes"), "4");
  EXPECT_EQ(Serialized(record, "stderr_sha256"),
            "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"");
  EXPECT_EQ(Serialized(record, "files_changed"),
            R"([{"path":"/home/agent/workspace/out.csv","change":"created","type":"file","size_bytes":120},)"
            R"({"path":"L3RtcC//","encoding":"base64","change":"deleted","type":"file","size_bytes":null}])");
  EXPECT_EQ(Serialized(record, "hints"), "[\"command_not_found\"]");
  EXPECT_EQ(Serialized(record, "checkpoint"), "\"cp_1\"");
  EXPECT_EQ(Serialized(record, "detail"), "null");
  for (const char* const key : {"truncated", "redacted", "replaced"}) EXPECT_EQ(Serialized(record, key), "[]") << key;
}

TEST(BodyTest, WhatDoesNotApplyIsNull) {
  Entry entry;
  entry.kind = Kind::kLifecycle;
  entry.detail = R"({"type":"sandbox.running"})";
  const json::object record = Read(entry);
  for (const char* const key :
       {"tenant", "caller", "face", "tool", "args", "decision", "outcome", "exit_code", "duration_ms", "stdout",
        "stderr", "stdout_bytes", "stderr_bytes", "stdout_sha256", "stderr_sha256", "files_changed", "checkpoint"}) {
    EXPECT_EQ(Serialized(record, key), "null") << key;
  }
  EXPECT_EQ(Serialized(record, "kind"), "\"lifecycle\"");
  EXPECT_EQ(Serialized(record, "detail"), R"({"type":"sandbox.running"})");
}

const std::string kHostile[] = {"a\nb\r\n{\"seq\":1}\n",
                                std::string("\0\x01\x1f", 3),
                                "\"},\"hash\":\"x\"}",
                                "\\",
                                "\\u",
                                "\x1b[2J\x1b]0;title\x07",
                                "\x7f\xc2\x9b",
                                "\xed\xa0\x80\xed\xb0\x80",
                                "\xff\xfe\xc0\x80\xf8",
                                "\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6\xef\xbb\xbf",
                                "\xf3\xa0\x81\x81",
                                std::string(10U << 20U, 'x'),
                                std::string(10U << 20U, '\0'),
                                std::string(1U << 20U, '\xff'),
                                std::string(100000, '[')};

TEST(BodyTest, HostileContentIsAlwaysOneBoundedValidLine) {
  for (const std::string& text : kHostile) {
    Entry entry = Whole();
    entry.tenant = entry.caller = entry.tool = entry.outcome = entry.checkpoint = text;
    entry.args = entry.detail = text;
    entry.decision = Decision{text, text, text, text};
    entry.standard_output = entry.standard_error = StreamOf(text);
    entry.files_changed =
        std::vector<ChangedFile>(300, {text.substr(0, 5000), text.substr(0, 5000), text.substr(0, 5000), {}});
    entry.hints = std::vector<std::string>(50, text.substr(0, 5000));
    const json::object record = Read(entry);
    EXPECT_TRUE(record.contains("hash")) << Printable(text.substr(0, 20));
  }
}

TEST(BodyTest, WhatATerminalActsOnIsEscaped) {
  for (const std::string text : {"\x1b", "\x7f", "\xc2\x9b", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xae",
                                 "\xe2\x81\xa7", "\xf3\xa0\x81\x81"}) {
    Entry entry;
    entry.standard_output = StreamOf(text);
    const std::string body = BodyOf(entry, Redactor());
    EXPECT_EQ(body.find(text), std::string::npos) << Printable(text);
    EXPECT_EQ(Read(entry).at("stdout").as_string(), text) << "and is still there";
  }
}

TEST(BodyTest, SaysWhatWasCut) {
  Entry entry = Whole();
  entry.standard_output = StreamOf(std::string(5000, 'x'));
  entry.args = R"({"path":"/a","content":")" + std::string(100000, 'y') + "\"}";
  entry.files_changed = std::vector<ChangedFile>(201, {"/a", "created", "file", {}});
  entry.hints = std::vector<std::string>(33, "disk_full");
  const json::object record = Read(entry);
  EXPECT_EQ(Serialized(record, "truncated"), R"(["args","stdout","files_changed","hints"])");
  EXPECT_EQ(record.at("stdout").as_string().size(), kMostStream);
  EXPECT_EQ(Serialized(record, "stdout_bytes"), "5000");
  EXPECT_TRUE(record.at("stdout_sha256").is_string());
  EXPECT_EQ(record.at("files_changed").as_array().size(), kMostFiles);
  EXPECT_EQ(record.at("args").at("path").as_string(), "/a") << "what is short is whole";
  EXPECT_LE(record.at("args").at("content").as_string().size(), kMostArgs);
}

TEST(BodyTest, ArgumentsThatNothingMakesShortAreText) {
  Entry entry;
  entry.args = "[1e999,-2.5e3]";
  EXPECT_EQ(Serialized(Read(entry), "args"), R"(["Infinity",-2.5E3])") << "no JSON has it";
  std::string many = "[0";
  for (int i = 0; i < 30000; ++i) many += ",1";
  entry.args = many + "]";
  EXPECT_EQ(Read(entry).at("args").as_string().size(), kMostArgs);
  entry.args = "no json";
  const json::object record = Read(entry);
  EXPECT_EQ(record.at("args").as_string(), "no json");
  EXPECT_EQ(Serialized(record, "truncated"), "[]");
}

TEST(BodyTest, SecretsEnterNoField) {
  const std::string text = "x " + std::string(kValue) + " y";
  Entry entry = Whole();
  entry.tenant = entry.caller = entry.tool = entry.outcome = entry.checkpoint = text;
  entry.args = "{\"a\":[\"" + text + "\"],\"" + text + "\":1,\"password\":\"hunter2\"}";
  entry.detail = text;
  entry.decision = Decision{text, text, text, text};
  entry.standard_output = StreamOf(text);
  entry.standard_error = StreamOf(Base64("ab" + text));
  entry.files_changed = {{"/" + text + "\xff", text, text, {}}};
  entry.hints = {text};
  const json::object record = Read(entry);
  EXPECT_EQ(Serialized(record, "args"),
            R"({"a":["x [redacted:API] y"],"x [redacted:API] y":1,"password":"[redacted]"})");
  EXPECT_EQ(record.at("stdout").as_string(), "x [redacted:API] y");
  EXPECT_TRUE(record.at("stdout_sha256").is_null()) << "a short secret could be guessed from it";
  EXPECT_TRUE(record.at("stderr_sha256").is_null());
  EXPECT_NE(Serialized(record, "redacted").find("\"stdout\""), std::string::npos);
}

TEST(BodyTest, ASecretThatIsANumberIsHidden) {
  Entry entry;
  entry.args = R"({"pin":48151623,"n":7})";
  EXPECT_EQ(Serialized(Read(entry, Redactor(std::vector<Secret>{{"PIN", "48151623"}})), "args"),
            R"({"pin":"[redacted:PIN]","n":7})");
}

// Wherever a bound falls, no readable part of a secret is left before it.
TEST(BodyTest, ASecretAtABoundLeavesNoHalf) {
  const std::string secret = kValue;
  for (std::size_t at = 4 * kMostStream / 2 - 30; at < 4 * kMostStream / 2 + 10; ++at) {
    for (const std::size_t bound : {kMostStream, kStreamWindow, std::size_t{600}}) {
      const std::size_t before = bound + at - 2 * kMostStream - 10;
      const std::string text = std::string(before, 'x') + secret + "tail";
      Entry entry;
      entry.standard_output = StreamOf(text);
      entry.standard_error = Stream{text.substr(0, std::min(text.size(), bound)), {text.size()}, {}};
      entry.tool = text;
      entry.args = "{\"a\":\"" + text + text + text + "\"}";
      const std::string body = BodyOf(entry, Planted());
      EXPECT_EQ(body.find(secret.substr(0, 4)), std::string::npos) << at << " " << bound;
    }
  }
}

}  // namespace
}  // namespace caisson::record
