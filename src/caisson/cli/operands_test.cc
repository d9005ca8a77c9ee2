#include <gtest/gtest.h>

#include "caisson/cli/command_lookup.h"
#include "caisson/cli/copy_out.h"
#include "caisson/cli/copy_request.h"
#include "caisson/cli/parse_for_test.h"
#include "caisson/cli/serve_request.h"

namespace caisson::cli {
namespace {

using Arguments = std::vector<std::string>;

TEST(Operands, AreAsManyAsTheCommandTakes) {
  for (const Arguments& right :
       {Arguments{"create"}, Arguments{"create", "web"}, Arguments{"list"}, Arguments{"inspect", "a"},
        Arguments{"logs", "a"}, Arguments{"logs", "a", "cm_b"}, Arguments{"attach", "a", "b"}, Arguments{"pause", "a"},
        Arguments{"delete", "a", "b", "c"}, Arguments{"copy", "a", "b"}, Arguments{"serve"},
        Arguments{"tool", "a", "run_command"}, Arguments{"tool", "a", "run_command", "{}"},
        Arguments{"logs", "--follow", "a"}, Arguments{"list", "--all", "--json"}, Arguments{"policy", "show"},
        Arguments{"policy", "explain", "minimal", "ls", "x", "y"}}) {
    EXPECT_TRUE(ParseForTest(right)) << right.front() << right.size();
  }
  for (const Arguments& wrong : {Arguments{"create", "a", "b"},
                                 Arguments{"list", "a"},
                                 Arguments{"inspect"},
                                 Arguments{"inspect", "a", "b"},
                                 Arguments{"logs"},
                                 Arguments{"logs", "a", "b", "c"},
                                 Arguments{"attach", "a"},
                                 Arguments{"attach"},
                                 Arguments{"pause"},
                                 Arguments{"delete"},
                                 Arguments{"copy", "a"},
                                 Arguments{"copy", "a", "b", "c"},
                                 Arguments{"tool"},
                                 Arguments{"tool", "a"},
                                 Arguments{"tool", "a", "b", "{}", "c"},
                                 Arguments{"serve", "a"},
                                 Arguments{"inspect", ""},
                                 Arguments{"pause", "a", "--", "b"},
                                 Arguments{"policy"},
                                 Arguments{"policy", "show", ""},
                                 Arguments{"policy", "--", "show"},
                                 Arguments{"policy", "explain", "minimal", "ls", "-l"},
                                 Arguments{"policy", "check", "--policy", "minimal"}}) {
    const auto line = ParseForTest(wrong);
    ASSERT_FALSE(line) << wrong.front() << wrong.size();
    EXPECT_EQ(line.error().code(), Code::kInvalidArgument);
    EXPECT_FALSE(line.error().remediation().empty());
  }
}

TEST(Operands, OfAPolicyAreTheWordsOfACommandToo) {
  const auto line =
      ParseForTest({"policy", "explain", "--json", "minimal", "--", "git", "commit", "-m", "", "--", "x"});
  ASSERT_TRUE(line) << line.error().message();
  EXPECT_EQ(line->command, CommandId::kPolicy);
  EXPECT_TRUE(line->Has(Option::kJson));
  EXPECT_EQ(line->operands, (Arguments{"explain", "minimal", "git", "commit", "-m", "", "--", "x"}));
  EXPECT_FALSE(line->program);
}

Result<CopyRequest> ReadCopy(const std::string& source, const std::string& destination) {
  CAISSON_TRY(const CommandLine line, ParseForTest({"copy", source, destination}));
  return ReadCopyRequest(line);
}

TEST(ReadCopyRequest, KnowsWhichSideIsTheSandbox) {
  const auto in = ReadCopy("src/a", "web:/opt/");
  ASSERT_TRUE(in) << in.error().message();
  EXPECT_EQ(in->direction, CopyDirection::kIn);
  EXPECT_EQ(in->sandbox, "web");
  EXPECT_EQ(in->remote, "/opt/");
  EXPECT_EQ(in->local, "src/a");
  EXPECT_EQ(in->target, CopyRequest::Target::kInFolder);
  const auto out = ReadCopy("web:a:b", "./c:d");
  ASSERT_TRUE(out) << out.error().message();
  EXPECT_EQ(out->direction, CopyDirection::kOut);
  EXPECT_EQ(out->remote, "/home/agent/workspace/a:b");
  EXPECT_EQ(out->local, "./c:d");
  EXPECT_EQ(out->target, CopyRequest::Target::kAsNamed);
  EXPECT_EQ(ReadCopy("x", "web:")->remote, "/home/agent/workspace/");
  for (const auto& [source, destination] : std::vector<std::pair<std::string, std::string>>{
           {"a", "b"}, {"a:b", "c:d"}, {"./a:b", "c"}, {":a", "b"}, {"web:\xFF", "."}}) {
    EXPECT_FALSE(ReadCopy(source, destination)) << source << " " << destination;
  }
}

TEST(LastPart, IsTheNameOfACopy) {
  EXPECT_EQ(LastPart("a"), "a");
  EXPECT_EQ(LastPart("/a/b"), "b");
  EXPECT_EQ(LastPart("/a/b//"), "b");
  for (const char* path : {"/", ".", "..", "a/..", "./", "//"}) EXPECT_EQ(LastPart(path), "") << path;
  EXPECT_EQ(Below("/a", "b"), "/a/b");
  EXPECT_EQ(Below("/", "b"), "/b");
}

TEST(IsEntryName, LetsNoNameLeadElsewhere) {
  EXPECT_TRUE(IsEntryName("a b"));
  EXPECT_TRUE(IsEntryName("..."));
  for (const std::string& name : {std::string(), std::string("."), std::string(".."), std::string("a/b"),
                                  std::string("/"), std::string("../x"), std::string("a\0b", 3)}) {
    EXPECT_FALSE(IsEntryName(name)) << name;
  }
}

TEST(DaemonArguments, AreTheOptionsThatWereGiven) {
  const auto line =
      ParseForTest({"serve", "--idle-exit", "15m", "--socket", "/run/x.sock", "--listen", "127.0.0.1:7777"});
  ASSERT_TRUE(line);
  EXPECT_EQ(DaemonArguments(*line).value(),
            (Arguments{"--socket", "/run/x.sock", "--listen", "127.0.0.1:7777", "--idle-exit", "15m"}));
  EXPECT_TRUE(DaemonArguments(*ParseForTest({"serve"}))->empty());
  for (const Arguments& wrong :
       {Arguments{"serve", "--socket", "x"}, Arguments{"serve", "--socket", "/" + std::string(107, 'x')},
        Arguments{"serve", "--listen", "0.0.0.0:7777"}, Arguments{"serve", "--listen", "127.0.0.1"},
        Arguments{"serve", "--listen", "192.168.0.1:80"}, Arguments{"serve", "--idle-exit", "15"}}) {
    const auto parsed = ParseForTest(wrong);
    ASSERT_TRUE(parsed);
    const auto arguments = DaemonArguments(*parsed);
    ASSERT_FALSE(arguments) << wrong.back();
    EXPECT_NE(arguments.error().message().find(wrong[1]), std::string::npos) << arguments.error().message();
  }
}

client::CommandView Command(const std::string& id) {
  client::CommandView view;
  view.id = id;
  return view;
}

TEST(FindCommand, TakesTheLastOneOrTheBeginningOfAnId) {
  const std::vector<client::CommandView> commands = {Command("cm_aab"), Command("cm_aac"), Command("cm_bcm")};
  EXPECT_EQ(FindCommand(commands, std::nullopt)->id, "cm_bcm");
  EXPECT_EQ(FindCommand(commands, "cm_aab")->id, "cm_aab");
  EXPECT_EQ(FindCommand(commands, "b")->id, "cm_bcm");
  EXPECT_EQ(FindCommand(commands, "aa").error().code(), Code::kInvalidArgument);
  EXPECT_EQ(FindCommand(commands, "z").error().code(), Code::kNotFound);
  EXPECT_EQ(FindCommand(std::vector<client::CommandView>{}, std::nullopt).error().code(), Code::kNotFound);
}

}  // namespace
}  // namespace caisson::cli
