#include "caisson/sandbox/change_spans.h"

#include <gtest/gtest.h>

namespace caisson::sandbox {
namespace {

using plan::ChangeKind;

plan::ChangeList List(std::initializer_list<std::pair<const char*, ChangeKind>> entries) {
  plan::ChangeList list;
  for (const auto& [path, kind] : entries) list.changes.push_back({.path = path, .kind = kind});
  return list;
}

std::string Text(const plan::ChangeList& list) {
  constexpr const char* kKinds[] = {"created", "modified", "deleted", "metadata"};
  std::string text;
  for (const plan::Change& change : list.changes) {
    text += std::string(kKinds[static_cast<int>(change.kind)]) + " " + change.path + ";";
  }
  return text + (list.truncated ? "truncated" : "");
}

TEST(ChangeSpans, ASpanHasWhatWasReportedWhileItLasted) {
  ChangeSpans spans;
  spans.Add(List({{"/before", ChangeKind::kCreated}}));
  const auto first = spans.Begin();
  spans.Add(List({{"/a", ChangeKind::kCreated}}));
  const auto second = spans.Begin();
  spans.Add(List({{"/b", ChangeKind::kModified}}));
  EXPECT_EQ(Text(spans.End(second)), "modified /b;");
  spans.Add(List({{"/c", ChangeKind::kDeleted}}));
  EXPECT_EQ(Text(spans.End(first)), "created /a;modified /b;deleted /c;");
  EXPECT_EQ(spans.size(), 0U);
}

TEST(ChangeSpans, ChangesOfOnePathAreTakenTogether) {
  struct Case {
    ChangeKind first;
    ChangeKind second;
    const char* together;
  };
  const Case cases[] = {{ChangeKind::kCreated, ChangeKind::kModified, "created /x;"},
                        {ChangeKind::kCreated, ChangeKind::kMetadata, "created /x;"},
                        {ChangeKind::kCreated, ChangeKind::kDeleted, ""},
                        {ChangeKind::kModified, ChangeKind::kDeleted, "deleted /x;"},
                        {ChangeKind::kModified, ChangeKind::kMetadata, "modified /x;"},
                        {ChangeKind::kMetadata, ChangeKind::kModified, "modified /x;"},
                        {ChangeKind::kMetadata, ChangeKind::kMetadata, "metadata /x;"},
                        {ChangeKind::kMetadata, ChangeKind::kDeleted, "deleted /x;"},
                        {ChangeKind::kDeleted, ChangeKind::kCreated, "modified /x;"}};
  for (const Case& one : cases) {
    ChangeSpans spans;
    const auto id = spans.Begin();
    spans.Add(List({{"/x", one.first}}));
    spans.Add(List({{"/x", one.second}}));
    EXPECT_EQ(Text(spans.End(id)), one.together);
  }
}

TEST(ChangeSpans, AListThatWasCutStaysOne) {
  ChangeSpans spans;
  const auto id = spans.Begin();
  plan::ChangeList cut = List({{"/a", ChangeKind::kCreated}});
  cut.truncated = true;
  spans.Add(cut);
  spans.Add(List({{"/b", ChangeKind::kCreated}}));
  EXPECT_EQ(Text(spans.End(id)), "created /a;created /b;truncated");
}

TEST(ChangeSpans, ManyReportsTogetherStayBounded) {
  ChangeSpans spans;
  const auto id = spans.Begin();
  for (int i = 0; i < 3; ++i) {
    plan::ChangeList list;
    for (std::size_t j = 0; j < 600; ++j) {
      list.changes.push_back({.path = "/" + std::to_string(i) + "/" + std::to_string(j)});
    }
    spans.Add(list);
  }
  const plan::ChangeList list = spans.End(id);
  EXPECT_EQ(list.changes.size(), plan::kMaxChanges);
  EXPECT_TRUE(list.truncated);
}

TEST(ChangeSpans, AFullSpanTakesNoFurtherPathAndSaysSo) {
  ChangeSpans spans;
  const auto id = spans.Begin();
  plan::ChangeList many;
  for (std::size_t i = 0; i < ChangeSpans::kMaxHeld; ++i) {
    many.changes.push_back({.path = "/many/" + std::to_string(i), .kind = ChangeKind::kCreated});
  }
  spans.Add(many);
  spans.Add(List({{"/left out", ChangeKind::kCreated}}));
  for (plan::Change& change : many.changes) change.kind = ChangeKind::kDeleted;
  spans.Add(many);
  spans.Add(List({{"/left out", ChangeKind::kDeleted}}));
  EXPECT_EQ(Text(spans.End(id)), "truncated");
}

TEST(ChangeSpans, LongPathsFillASpanToo) {
  ChangeSpans spans;
  const auto id = spans.Begin();
  const std::string longest(ChangeSpans::kMaxHeldBytes - 1, 'x');
  spans.Add(List({{("/" + longest).c_str(), ChangeKind::kCreated}}));
  spans.Add(List({{("/" + longest).c_str(), ChangeKind::kDeleted}, {"/a", ChangeKind::kCreated}}));
  EXPECT_EQ(Text(spans.End(id)), "created /a;");
}

}  // namespace
}  // namespace caisson::sandbox
