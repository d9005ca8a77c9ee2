#include "caisson/rest/requests_json.h"

#include <gtest/gtest.h>

#include <csignal>

namespace caisson::rest {
namespace {

using std::chrono::milliseconds;

TEST(ReadCreate, ReadsEveryField) {
  const auto read = ReadCreate(R"({"name":"build","labels":{"team":"a"},"cpus":0.5,"memory_bytes":536870912,
    "disk_bytes":1073741824,"pids":64,"command_timeout_ms":1500,"storage":"tmpfs","env":{"B":"2","A":"1"},
    "image":{"ticket":"t1"},"workspace":{"ticket":"t2","mode":"rw"},"idle_timeout_ms":900000,"max_lifetime_ms":86400000,
    "on_end":"keep"})",
                               "key-1");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->name, "build");
  EXPECT_EQ(read->labels.at("team"), "a");
  EXPECT_EQ(read->limits.cpus, MilliCpus{500});
  EXPECT_EQ(read->limits.memory, MiB(512));
  EXPECT_EQ(read->limits.disk, GiB(1));
  EXPECT_EQ(read->limits.pids, 64U);
  EXPECT_EQ(read->command_timeout, milliseconds(1500));
  EXPECT_EQ(read->storage, plan::Storage::kTmpfs);
  EXPECT_EQ(read->env, (std::vector<std::pair<std::string, std::string>>{{"B", "2"}, {"A", "1"}}));
  EXPECT_EQ(read->image_ticket, "t1");
  EXPECT_EQ(read->workspace_ticket, "t2");
  EXPECT_EQ(read->workspace_mode, plan::WorkspaceMode::kReadWrite);
  EXPECT_EQ(read->idle_timeout, milliseconds(900'000));
  EXPECT_EQ(read->max_lifetime, std::chrono::hours(24));
  EXPECT_EQ(read->on_end, service::OnEnd::kKeep);
  EXPECT_EQ(read->idempotency_key, "key-1");
}

TEST(ReadCreate, TakesAnEmptyObject) {
  const auto read = ReadCreate(R"({"image":"host"})", std::nullopt);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->limits.memory, GiB(2));
  EXPECT_EQ(read->workspace_mode, plan::WorkspaceMode::kNone);
  EXPECT_EQ(read->name, std::nullopt);
  EXPECT_EQ(read->image_ticket, std::nullopt);
}

TEST(ReadCreate, RefusesWrongNumbers) {
  for (const char* field :
       {"cpus", "memory_bytes", "disk_bytes", "pids", "command_timeout_ms", "idle_timeout_ms", "max_lifetime_ms"}) {
    for (const char* value :
         {"0", "-1", "-0.5", "9223372036854775808", "1e300", "1e400", "\"5\"", "true", "[]", "{}", "NaN"}) {
      const std::string body = "{\"" + std::string(field) + "\":" + value + "}";
      EXPECT_FALSE(ReadCreate(body, std::nullopt)) << body;
    }
  }
  for (const char* body : {R"({"pids":0.5})",
                           R"({"memory_bytes":4194303})",
                           R"({"storage":"zfs"})",
                           R"({"image":"debian"})",
                           R"({"image":7})",
                           R"({"image":{}})",
                           R"({"workspace":{"mode":"rw"}})",
                           R"({"workspace":{"ticket":"t","mode":"rx"}})",
                           R"({"workspace":"/etc"})",
                           R"({"image":{"ticket":"t","path":"/"}})",
                           R"({"labels":{"a":1}})",
                           R"({"env":["A=1"]})",
                           R"({"env":{"A=1":""}})",
                           R"({"labels":{"a=b":"c"}})",
                           R"({"name":null})",
                           R"({"image":null})",
                           R"({"on_end":"snapshot"})",
                           R"({"memroy_bytes":5})",
                           R"([])",
                           ""}) {
    EXPECT_FALSE(ReadCreate(body, std::nullopt)) << body;
  }
}

TEST(ReadCreate, ChecksTheIdempotencyKey) {
  EXPECT_TRUE(ReadCreate("{}", std::string(255, 'k')));
  EXPECT_FALSE(ReadCreate("{}", std::string(256, 'k')));
  EXPECT_FALSE(ReadCreate("{}", ""));
  EXPECT_FALSE(ReadCreate("{}", "a b"));
  EXPECT_FALSE(ReadCreate("{}", "caf\xC3\xA9"));
}

TEST(ReadList, ReadsFilters) {
  const auto read = ReadList("state=paused&label=a%3Db&label=c=d%3De&limit=5&cursor=x");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->state, sandbox::Lifecycle::kPaused);
  EXPECT_EQ(read->labels, (std::multimap<std::string, std::string>{{"a", "b"}, {"c", "d=e"}}));
  EXPECT_EQ(read->limit, 5U);
  EXPECT_EQ(read->cursor, "x");
  for (const char* query : {"state=up", "label=a", "label==b", "limit=0", "limit=1001", "page=2", "key=secret"}) {
    EXPECT_FALSE(ReadList(query)) << query;
  }
}

TEST(ReadList, BoundsItsLabels) {
  std::string query;
  for (int i = 0; i < 16; ++i) query += "&label=" + std::to_string(i) + "=";
  EXPECT_TRUE(ReadList(query.substr(1)));
  EXPECT_FALSE(ReadList(query.substr(1) + "&label=x="));
  EXPECT_EQ(ReadList("label=a=b&label=a=c")->labels.size(), 2U) << "both must be equal: nothing is";
  const std::string longest(255, 'k');
  EXPECT_TRUE(ReadList("label=" + longest + "=" + longest));
  EXPECT_FALSE(ReadList("label=" + longest + "k=v"));
  EXPECT_FALSE(ReadList("label=k=v" + longest));
}

TEST(ReadStart, ReadsEveryField) {
  const auto read =
      ReadStart(R"({"argv":["cat","-"],"env":{"A":"1"},"cwd":"/tmp","user":"root","timeout_ms":250,"input":"open",
    "stdin_base64":"AP8=","report_changes":false,"background":true})");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->command.argv, (std::vector<std::string>{"cat", "-"}));
  EXPECT_EQ(read->command.cwd, "/tmp");
  EXPECT_EQ(read->command.user, sandbox::User::kRoot);
  EXPECT_EQ(read->command.timeout, milliseconds(250));
  EXPECT_EQ(read->command.input, service::CommandRequest::Input::kOpen);
  EXPECT_EQ(read->command.stdin_bytes, std::string("\0\xFF", 2));
  EXPECT_EQ(read->command.report_changes, sandbox::ReportChanges::kNo);
  EXPECT_EQ(read->run, Run::kInBackground);
  EXPECT_EQ(ReadStart(R"({"argv":["cat"],"stdin":"a\u0000b"})")->command.stdin_bytes, std::string("a\0b", 3));
}

TEST(ReadStart, RefusesWhatCannotStart) {
  for (const char* body : {"{}", R"({"argv":[]})", R"({"argv":[""]})", R"({"argv":"ls"})", R"({"argv":["a\u0000"]})",
                           R"({"argv":[1]})", R"({"argv":["a"],"timeout_ms":0})", R"({"argv":["a"],"timeout_ms":-5})",
                           R"({"argv":["a"],"stdin":"x","stdin_base64":""})", R"({"argv":["a"],"stdin_base64":"x"})",
                           R"({"argv":["a"],"user":"bob"})", R"({"argv":["a"],"cwd":""})",
                           R"({"argv":["a"],"background":null})", R"({"argv":["a"],"command":"ls"})"}) {
    EXPECT_FALSE(ReadStart(body)) << body;
  }
}

TEST(ReadPolicyChange, IsAPresetOrAText) {
  const auto preset = ReadPolicyChange("", R"({"preset":"minimal"})");
  ASSERT_TRUE(preset) << preset.error().message();
  EXPECT_EQ(preset->policy.preset, "minimal");
  const auto text = ReadPolicyChange("", R"({"text":"version = 1","name":"mine.toml"})");
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(text->policy.text, "version = 1");
  EXPECT_EQ(text->policy.format, document::Format::kToml);
  EXPECT_EQ(text->policy.name, "mine.toml");
  const auto json = ReadPolicyChange("", R"({"text":"{}","format":"json"})");
  EXPECT_EQ(json->policy.format, document::Format::kJson);
  EXPECT_EQ(json->policy.name, "policy.json");
  for (const char* body : {"{}", R"({"preset":"a","text":"b"})", R"({"preset":"a","name":"b"})", R"({"text":7})",
                           R"({"text":"a","format":"yaml"})", R"({"txt":"a"})", R"({"preset":"a","running":"go"})",
                           R"({"running":"stop"})"}) {
    EXPECT_FALSE(ReadPolicyChange("", body)) << body;
  }
  EXPECT_EQ(preset->running, service::RunningCommands::kFinish);
  EXPECT_EQ(ReadPolicyChange("running=finish", R"({"preset":"a"})")->running, service::RunningCommands::kFinish);
  EXPECT_EQ(ReadPolicyChange("running=stop", R"({"preset":"a"})")->running, service::RunningCommands::kStop);
  EXPECT_FALSE(ReadPolicyChange("running=go", R"({"preset":"a"})"));
  EXPECT_FALSE(ReadPolicyChange("run=stop", R"({"preset":"a"})"));
}

TEST(ReadStart, TakesAPolicy) {
  EXPECT_FALSE(ReadStart(R"({"argv":["ls"]})")->command.policy);
  EXPECT_EQ(ReadStart(R"({"argv":["ls"],"policy":{"preset":"minimal"}})")->command.policy->preset, "minimal");
  EXPECT_FALSE(ReadStart(R"({"argv":["ls"],"policy":{}})"));
  EXPECT_FALSE(ReadStart(R"({"argv":["ls"],"policy":"minimal"})"));
}

TEST(ReadCreate, KnowsWhereValuesCameFrom) {
  using Sources = service::ValueSources;
  EXPECT_EQ(ReadCreate("{}", {})->sources, Sources());
  EXPECT_EQ(ReadCreate(R"({"pids":9,"cpus":1})", {})->sources, (Sources{{"pids", "request"}, {"cpus", "request"}}));
  EXPECT_EQ(ReadCreate(R"({"pids":9,"cpus":1,"name":"a",
                           "sources":{"pids":"caisson.toml:3","cpus":"default","env":"--env"}})",
                       {})
                ->sources,
            (Sources{{"pids", "caisson.toml:3"}}))
      << "of what is in the body alone";
  for (const char* body : {R"({"sources":{"pid":"x"}})", R"({"pids":9,"sources":{"pids":""}})", R"({"sources":7})",
                           R"({"pids":9,"sources":{"pids":"a\u001b[2J"}})", R"({"pids":9,"sources":{"pids":7}})"}) {
    EXPECT_FALSE(ReadCreate(body, {})) << body;
  }
}

TEST(ReadCreate, TakesAPolicy) {
  EXPECT_FALSE(ReadCreate("{}", {})->policy);
  EXPECT_EQ(ReadCreate(R"({"policy":{"preset":"open"}})", {})->policy->preset, "open");
  EXPECT_EQ(ReadCreate(R"({"policy":{"text":"a"}})", {})->policy->text, "a");
  for (const char* body : {R"({"policy":"open"})", R"({"policy":{}})", R"({"policy":{"preset":"a","x":1}})"}) {
    EXPECT_FALSE(ReadCreate(body, {})) << body;
  }
}

TEST(ReadSignal, KnowsNames) {
  EXPECT_EQ(ReadSignal(R"({"signal":"SIGTERM"})").value(), SIGTERM);
  for (const char* body : {"{}", R"({"signal":"TERM"})", R"({"signal":15})", R"({"signal":"SIGNOPE"})"})
    EXPECT_FALSE(ReadSignal(body)) << body;
}

}  // namespace
}  // namespace caisson::rest
