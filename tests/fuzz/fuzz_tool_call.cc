// What an agent gives a tool. Input: the tool's name, a line feed, the input.

#include "caisson/base/path_text.h"
#include "caisson/base/utf8.h"
#include "caisson/tool/read_call.h"
#include "fuzz/fuzz_input.h"

namespace {

using caisson::fuzz::Require;
namespace tool = caisson::tool;

void RequireSound(const tool::RunCommand& call) {
  Require(call.command.has_value() == call.argv.empty(), "a call has a text or a program");
  Require(!call.cwd || call.cwd->starts_with('/'), "a call starts in an absolute folder");
}
void RequirePath(const std::string& path) { Require(caisson::IsNormalPath(path), "a path is absolute"); }
void RequireSound(const tool::ReadFile& call) {
  RequirePath(call.path);
  Require(call.first_line >= 1 && call.lines >= 1, "lines are counted from one");
}
void RequireSound(const tool::WriteFile& call) {
  RequirePath(call.path);
  Require(call.content.size() <= (1U << 20U), "a content is bounded");
}
void RequireSound(const tool::EditFile& call) {
  RequirePath(call.path);
  Require(!call.old_text.empty() && call.count >= 1, "there is something to replace");
}
void RequireSound(const tool::ListDirectory& call) {
  RequirePath(call.path);
  Require(call.depth >= 1 && call.depth <= 16 && call.limit >= 1 && call.limit <= 10'000, "a listing is bounded");
}
void RequireSound(const tool::SearchFiles& call) {
  RequirePath(call.search.path);
  Require(!call.search.pattern.empty() && call.search.limit >= 1 && call.search.limit <= 1000, "a search is bounded");
}
void RequireSound(const tool::ListChanges& /*call*/) {}
void RequireSound(const tool::GetEnvironment& /*call*/) {}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = caisson::fuzz::Input(data, size).TakeRest();
  const std::size_t line = std::min(text.find('\n'), text.size());
  const auto call = tool::ReadCall(text.substr(0, line), text.substr(std::min(line + 1, text.size())));
  if (call) {
    Require(tool::NameOf(*call) == text.substr(0, line), "it is the tool that was asked for");
    std::visit([](const auto& one) { RequireSound(one); }, *call);
  } else {
    Require(caisson::IsUtf8(call.error().message()), "a message is UTF-8");
    Require(call.error().code() == caisson::Code::kNotFound || call.error().code() == caisson::Code::kInvalidArgument,
            "the caller is told what is wrong");
  }
  return 0;
}
