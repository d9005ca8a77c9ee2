#include "caisson/cli/command_line.h"

#include <gtest/gtest.h>

namespace caisson::cli {
namespace {

using Arguments = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

Result<CommandLine> Parse(const Arguments& arguments, const Variables& variables = {}) {
  return ParseCommandLine(arguments, [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string TextOf(const Result<CommandLine>& line, Option option) {
  return line && line->Find(option) != nullptr ? line->Find(option)->text : "(absent)";
}

TEST(ParseCommandLine, TakesOptionsInBothFormsAndLeavesTheProgramAlone) {
  const auto line =
      Parse({"run", "--memory", "1GiB", "--cpus=0.5", "--json", "--", "sh", "-c", "x", "--", "--memory", ""});
  ASSERT_TRUE(line) << line.error().message();
  EXPECT_EQ(line->command, CommandId::kRun);
  EXPECT_EQ(TextOf(line, Option::kMemory), "1GiB");
  EXPECT_EQ(TextOf(line, Option::kCpus), "0.5");
  EXPECT_TRUE(line->Has(Option::kJson));
  EXPECT_FALSE(line->Has(Option::kTty));
  EXPECT_EQ(*line->program, (Arguments{"sh", "-c", "x", "--", "--memory", ""}));
}

TEST(ParseCommandLine, KeepsValuesAsTheyWereGiven) {
  const std::vector<std::string> values = {"-1",   "-x",    "--json", "",      " 5 g ",
                                           "{}",   "[a,b]", "a,b",    "\"q\"", "%%",
                                           "true", "=",     "a=b=c",  "\n",    std::string(70'000, 'v')};
  for (const std::string& value : values) {
    const auto line = Parse({"run", "--memory", value, "--", "true"});
    ASSERT_TRUE(line) << value << ": " << line.error().message();
    EXPECT_EQ(TextOf(line, Option::kMemory), value);
    ASSERT_EQ(line->values.size(), 1U) << value;
  }
  EXPECT_EQ(TextOf(Parse({"run", "--memory=-1", "--", "true"}), Option::kMemory), "-1");
  EXPECT_EQ(TextOf(Parse({"run", "--env=A=B=C", "--", "true"}), Option::kEnv), "A=B=C");
}

TEST(ParseCommandLine, LastOfARepeatedOptionCountsAndEnvKeepsAll) {
  const auto line =
      Parse({"run", "--pids", "1", "--env", "A=1", "--pids", "2", "--env", "B=x,y", "--json", "--json", "--", "true"});
  ASSERT_TRUE(line) << line.error().message();
  EXPECT_EQ(TextOf(line, Option::kPids), "2");
  const auto& env = line->values.at(Option::kEnv);
  ASSERT_EQ(env.size(), 2U);
  EXPECT_EQ(env[0].text, "A=1");
  EXPECT_EQ(env[1].text, "B=x,y");
}

TEST(ParseCommandLine, AnOptionBeatsItsVariableAndAVariableBeatsTheDefault) {
  const Variables variables = {
      {"CAISSON_MEMORY", "3GiB"}, {"CAISSON_PIDS", "7"}, {"CAISSON_CPUS", ""}, {"CAISSON_ENV", "A=1"}};
  const auto line = Parse({"run", "--memory", "1GiB", "--", "true"}, variables);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->Find(Option::kMemory)->text, "1GiB");
  EXPECT_EQ(line->Find(Option::kMemory)->source, "--memory");
  EXPECT_EQ(line->Find(Option::kPids)->text, "7");
  EXPECT_EQ(line->Find(Option::kPids)->source, "CAISSON_PIDS");
  EXPECT_FALSE(line->Has(Option::kCpus)) << "an empty variable counts as absent";
  EXPECT_FALSE(line->Has(Option::kEnv)) << "no variable sets it";
  EXPECT_FALSE(line->Has(Option::kDisk));
  EXPECT_TRUE(Parse({"doctor"}, variables)->values.empty());
}

TEST(ParseCommandLine, AnUnknownOptionNamesTheNearest) {
  for (const Arguments& arguments :
       {Arguments{"run", "--memroy", "1GiB", "--", "true"}, Arguments{"run", "--memroy=1GiB"},
        Arguments{"run", "x", "--memori", "--", "true"}}) {
    const auto line = Parse(arguments);
    ASSERT_FALSE(line);
    EXPECT_EQ(line.error().code(), Code::kInvalidArgument);
    EXPECT_NE(line.error().message().find("unknown option '--mem"), std::string::npos) << line.error().message();
    EXPECT_NE(line.error().remediation().find("--memory"), std::string::npos);
  }
  const auto odd = Parse({"run", "--" + std::string(300, 'n'), "--", "true"});
  ASSERT_FALSE(odd);
  EXPECT_LT(odd.error().message().size(), 120U);
  EXPECT_FALSE(Parse({"doctor", "--memory", "1GiB"})) << "an option of another command";
  EXPECT_FALSE(Parse({"run", "-m", "--", "true"}));
  EXPECT_FALSE(Parse({"run", "--mem", "1GiB", "--", "true"})) << "no abbreviations";
  EXPECT_FALSE(Parse({"--jsn"}));
}

TEST(ParseCommandLine, AnUnknownCommandNamesTheNearest) {
  const auto line = Parse({"docter"});
  ASSERT_FALSE(line);
  EXPECT_NE(line.error().remediation().find("doctor"), std::string::npos);
  EXPECT_FALSE(Parse({""}));
  EXPECT_FALSE(Parse({"help", "rum"}));
}

TEST(ParseCommandLine, SaysHowACommandIsWritten) {
  const auto bare = Parse({"run", "ls", "-l"});
  ASSERT_FALSE(bare);
  const auto no_separator = Parse({"run", "ls"});
  ASSERT_FALSE(no_separator);
  EXPECT_NE(no_separator.error().remediation().find("-- ls"), std::string::npos);
  EXPECT_FALSE(Parse({"run", "stray", "--", "true"}));
  EXPECT_FALSE(Parse({"doctor", "--", "true"}));
  EXPECT_FALSE(Parse({"doctor", "stray"}));
}

TEST(ParseCommandLine, AValueThatLacksAndOneTooManyAreErrors) {
  const auto lacking = Parse({"run", "--memory"});
  ASSERT_FALSE(lacking);
  EXPECT_EQ(lacking.error().message(), "--memory needs a value");
  const auto before_program = Parse({"run", "--memory", "--", "true"});
  ASSERT_FALSE(before_program);
  EXPECT_EQ(before_program.error().message(), "--memory needs a value");
  const auto flag = Parse({"run", "--json=false", "--", "true"});
  ASSERT_FALSE(flag);
  EXPECT_EQ(flag.error().message(), "--json takes no value") << flag.error().message();
}

TEST(ParseCommandLine, FindsHelp) {
  EXPECT_TRUE(Parse({"run", "--help"})->Has(Option::kHelp));
  EXPECT_TRUE(Parse({"run", "-h"})->Has(Option::kHelp));
  EXPECT_EQ(Parse({"--help"})->command, CommandId::kHelp);
  EXPECT_EQ(Parse({"--version"})->command, CommandId::kVersion);
  EXPECT_EQ(Parse({"help", "run"})->operands, (Arguments{"run"}));
  EXPECT_FALSE(Parse({"run", "--", "--help"})->Has(Option::kHelp)) << "the program's own";
}

TEST(AsksForJson, LooksBeforeTheSeparatorOnly) {
  EXPECT_TRUE(AsksForJson({"run", "--bad", "--json", "--", "true"}));
  EXPECT_FALSE(AsksForJson({"run", "--", "tool", "--json"}));
}

TEST(OptionTable, IsInTheOrderOfItsIds) {
  for (std::size_t i = 0; i < Options().size(); ++i) EXPECT_EQ(static_cast<std::size_t>(Options()[i].id), i);
  for (std::size_t i = 0; i < Commands().size(); ++i) EXPECT_EQ(static_cast<std::size_t>(Commands()[i].id), i);
  EXPECT_EQ(OptionOf(Option::kHelp).id, Option::kHelp);
  EXPECT_EQ(Options().back().id, Option::kHelp);
}

}  // namespace
}  // namespace caisson::cli
