#include "caisson/tool/read_call.h"

#include <gtest/gtest.h>

#include "caisson/base/base64.h"

namespace caisson::tool {
namespace {

using std::chrono::milliseconds;

template <typename Tool>
Tool Read(std::string_view tool, std::string_view input) {
  auto call = ReadCall(tool, input);
  if (!call) {
    ADD_FAILURE() << input << ": " << call.error().message();
    return {};
  }
  EXPECT_EQ(NameOf(*call), tool);
  return std::get<Tool>(*std::move(call));
}

void ExpectRefused(std::string_view tool, std::string_view input) {
  const auto call = ReadCall(tool, input);
  ASSERT_FALSE(call) << tool << " " << input;
  EXPECT_EQ(call.error().code(), Code::kInvalidArgument) << input;
}

TEST(ReadCall, KnowsItsTools) {
  const auto unknown = ReadCall("read_fil", "{}");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code(), Code::kNotFound);
  EXPECT_NE(unknown.error().remediation().find("'read_file'"), std::string::npos) << unknown.error().remediation();
  EXPECT_FALSE(ReadCall("", "{}"));
}

TEST(ReadCall, ReadsACommand) {
  const auto call = Read<RunCommand>(
      "run_command",
      R"({"command":"ls | wc","env":{"A":"1"},"cwd":"/tmp","stdin":"a\u0000b","timeout":0.25,"background":true})");
  EXPECT_EQ(call.command, "ls | wc");
  EXPECT_TRUE(call.argv.empty());
  EXPECT_EQ(call.env, (std::vector<std::pair<std::string, std::string>>{{"A", "1"}}));
  EXPECT_EQ(call.cwd, "/tmp");
  EXPECT_EQ(call.stdin_bytes, std::string("a\0b", 3));
  EXPECT_EQ(call.timeout, milliseconds(250));
  EXPECT_TRUE(call.is_background);
  const auto argv = Read<RunCommand>("run_command", R"({"argv":["ls",""]})");
  EXPECT_FALSE(argv.command);
  EXPECT_EQ(argv.argv, (std::vector<std::string>{"ls", ""}));
  EXPECT_FALSE(argv.timeout);
  EXPECT_FALSE(argv.is_background);
}

TEST(ReadCall, RefusesCommandsThatCannotStart) {
  for (const char* input :
       {"{}", R"({"command":""})", R"({"argv":[]})", R"({"argv":[""]})", R"({"command":"ls","argv":["ls"]})",
        R"({"command":["ls"]})", R"({"command":"a\u0000"})", R"({"command":"ls","cwd":"here"})",
        R"({"command":"ls","timeout":0})", R"({"command":"ls","timeout":-1})", R"({"command":"ls","timeout":"30"})",
        R"({"command":"ls","timeout_ms":30})", R"({"command":"ls","user":"root"})", R"({"command":null,"argv":["a"]})",
        R"({"command":"ls"} x)", R"(["ls"])", "ls"}) {
    ExpectRefused("run_command", input);
  }
  EXPECT_TRUE(ReadCall("run_command", R"({"command":")" + std::string(131'071, 'x') + "\"}"));
  EXPECT_FALSE(ReadCall("run_command", R"({"command":")" + std::string(131'072, 'x') + "\"}"));
}

TEST(ReadCall, MakesPathsAbsolute) {
  EXPECT_EQ(Read<ReadFile>("read_file", R"({"path":"src/../a.txt"})").path, "/home/agent/workspace/a.txt");
  EXPECT_EQ(Read<ReadFile>("read_file", R"({"path":"/etc//./hosts"})").path, "/etc/hosts");
  EXPECT_EQ(Read<ListDirectory>("list_directory", "{}").path, "/home/agent/workspace");
  EXPECT_EQ(Read<ListDirectory>("list_directory", R"({"path":"../../../.."})").path, "/");
  for (const char* path : {"\"\"", "7", "null", "\"a\\u0000b\"", "[\"a\"]"}) {
    for (const char* tool : {"read_file", "list_directory"})
      ExpectRefused(tool, std::string("{\"path\":") + path + "}");
  }
  ExpectRefused("read_file", "{}");
  ExpectRefused("read_file", R"({"path":")" + std::string(4096, 'x') + "\"}");
}

TEST(ReadCall, ReadsWhatIsRead) {
  const auto call = Read<ReadFile>("read_file", R"({"path":"/a","offset":7,"limit":9})");
  EXPECT_EQ(call.first_line, 7U);
  EXPECT_EQ(call.lines, 9U);
  EXPECT_EQ(Read<ReadFile>("read_file", R"({"path":"/a"})").first_line, 1U);
  for (const char* more : {R"("offset":0)", R"("offset":-1)", R"("offset":1.5)", R"("limit":0)", R"("limit":100001)",
                           R"("limit":"3")", R"("lines":3)"}) {
    ExpectRefused("read_file", std::string(R"({"path":"/a",)") + more + "}");
  }
  const auto list = Read<ListDirectory>("list_directory", R"({"depth":3,"limit":10})");
  EXPECT_EQ(list.depth, 3U);
  EXPECT_EQ(list.limit, 10U);
  for (const char* input : {R"({"depth":0})", R"({"depth":17})", R"({"limit":10001})"}) {
    ExpectRefused("list_directory", input);
  }
}

TEST(ReadCall, ReadsWhatIsWritten) {
  using IfExists = WriteFile::IfExists;
  const std::string digest(64, 'a');
  const auto call =
      Read<WriteFile>("write_file", R"({"path":"/a","content":"x\u0000\n","expected_sha256":")" + digest + "\"}");
  EXPECT_EQ(call.content, std::string("x\0\n", 3));
  EXPECT_EQ(call.if_exists, IfExists::kOverwrite);
  EXPECT_EQ(call.expected_sha256, digest);
  const auto bytes =
      Read<WriteFile>("write_file", R"({"path":"/a","content":"/wA=","encoding":"base64","if_exists":"append"})");
  EXPECT_EQ(bytes.content, std::string("\xff\0", 2));
  EXPECT_EQ(bytes.if_exists, IfExists::kAppend);
  for (const std::string& more :
       {std::string(), std::string(R"(,"content":7)"), std::string(R"(,"content":"a","encoding":"latin-1")"),
        std::string(R"(,"content":"a","encoding":"base64")"), std::string(R"(,"content":"a","if_exists":"ask")"),
        std::string(R"(,"content":"a","expected_sha256":"A")"),
        R"(,"content":"a","expected_sha256":")" + std::string(64, 'A') + '"',
        R"(,"content":"a","if_exists":"fail","expected_sha256":")" + digest + '"',
        std::string(R"(,"content":"\ud800")")}) {
    ExpectRefused("write_file", R"({"path":"/a")" + more + "}");
  }
  EXPECT_TRUE(ReadCall("write_file", R"({"path":"/a","content":")" + std::string(1U << 20U, 'x') + "\"}"));
  ExpectRefused("write_file", R"({"path":"/a","content":")" + std::string((1U << 20U) + 1, 'x') + "\"}");
  ExpectRefused("write_file",
                R"({"path":"/a","encoding":"base64","content":")" + Base64(std::string((1U << 20U) + 3, 'x')) + "\"}");
}

TEST(ReadCall, ReadsWhatIsEdited) {
  const auto call = Read<EditFile>("edit_file", R"({"path":"/a","old_text":"x","new_text":"","count":2})");
  EXPECT_EQ(call.old_text, "x");
  EXPECT_EQ(call.new_text, "");
  EXPECT_EQ(call.count, 2U);
  for (const char* more :
       {R"("old_text":"x")", R"("new_text":"x")", R"("old_text":"","new_text":"x")",
        R"("old_text":"x","new_text":"y","count":0)", R"("old_text":"x","new_text":"y","all":true)"}) {
    ExpectRefused("edit_file", std::string(R"({"path":"/a",)") + more + "}");
  }
}

TEST(ReadCall, ReadsWhatIsSearched) {
  const auto call =
      Read<SearchFiles>("search_files", R"({"pattern":"a|b","path":"src","glob":"*.py","limit":7,"ignore_case":true})");
  EXPECT_EQ(call.search.pattern, "a|b");
  EXPECT_EQ(call.search.path, "/home/agent/workspace/src");
  EXPECT_EQ(call.search.glob, "*.py");
  EXPECT_EQ(call.search.limit, 7U);
  EXPECT_EQ(call.search.letters, sandbox::FileSearch::LetterCase::kIgnored);
  EXPECT_EQ(Read<SearchFiles>("search_files", R"({"pattern":"a"})").search.path, "/home/agent/workspace");
  for (const char* input :
       {"{}", R"({"pattern":""})", R"({"pattern":"a","limit":0})", R"({"pattern":"a","limit":1001})",
        R"({"pattern":"a","path":""})", R"({"pattern":"a","glob":7})", R"({"regex":"a"})"}) {
    ExpectRefused("search_files", input);
  }
  ExpectRefused("search_files", R"({"pattern":")" + std::string(1025, 'x') + "\"}");
}

TEST(ReadCall, OfNothingTakesNothing) {
  for (const char* tool : {"list_changes", "get_environment"}) {
    EXPECT_TRUE(ReadCall(tool, "{}")) << tool;
    ExpectRefused(tool, R"({"x":1})");
    ExpectRefused(tool, "[]");
    ExpectRefused(tool, "");
  }
}

}  // namespace
}  // namespace caisson::tool
