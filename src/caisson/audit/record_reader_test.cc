#include "caisson/audit/record_reader.h"

#include "caisson/audit/audit_fixture.h"

namespace caisson::audit {
namespace {

class RecordReaderTest : public AuditFixture {
 protected:
  // The numbers of what passes.
  std::vector<std::uint64_t> Pass(const RecordFilter& filter) {
    std::vector<std::uint64_t> passed;
    auto reader = RecordReader::Open(data_, id_, filter);
    EXPECT_TRUE(reader) << Words(reader.error());
    while (reader) {
      const auto line = reader->Next();
      EXPECT_TRUE(line) << Words(line.error());
      if (!line || !*line) break;
      passed.push_back(std::get<record::Line>(record::ReadLine(**line)).head.seq);
    }
    return passed;
  }
};

TEST_F(RecordReaderTest, ReadsAllFilesInOrderAndFilters) {
  const auto file = Open({.rotate_at = Bytes{1500}});
  for (int i = 1; i <= 9; ++i) {
    record::Entry entry = Step(i % 2 == 0 ? "even" : "odd");
    entry.time = record::Time(std::chrono::milliseconds(i * 1000));
    entry.outcome = i % 3 == 0 ? "timed_out" : "exited";
    ASSERT_TRUE(file->Append(entry, record::Redactor()));
  }
  ASSERT_FALSE(Lines("2").empty());
  using Numbers = std::vector<std::uint64_t>;
  EXPECT_EQ(Pass({}), (Numbers{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(Pass({.since_seq = 7, .since = {}, .tool = {}, .outcome = {}}), (Numbers{7, 8, 9}));
  EXPECT_EQ(Pass({.since_seq = {}, .since = record::Time(std::chrono::milliseconds(7001)), .tool = {}, .outcome = {}}),
            (Numbers{8, 9}));
  EXPECT_EQ(Pass({.since_seq = {}, .since = {}, .tool = "even", .outcome = {}}), (Numbers{2, 4, 6, 8}));
  EXPECT_EQ(Pass({.since_seq = {}, .since = {}, .tool = "even", .outcome = "timed_out"}), (Numbers{6}));
  EXPECT_EQ(Pass({.since_seq = 10, .since = {}, .tool = {}, .outcome = {}}), (Numbers{}));
}

TEST_F(RecordReaderTest, ALineThatIsNoneIsNamedAndPassedOver) {
  Append(*Open(), 1, 3);
  auto lines = Lines();
  lines.insert(lines.begin() + 1, std::string(300000, 'x'));
  lines.insert(lines.begin() + 3, "{}");
  WriteLines(lines);
  Write(Read() + "{\"torn");
  auto reader = RecordReader::Open(data_, id_, {});
  ASSERT_TRUE(reader);
  EXPECT_TRUE(reader->Next());
  const auto too_long = reader->Next();
  ASSERT_FALSE(too_long);
  EXPECT_NE(too_long.error().message().find("line 2 "), std::string::npos) << too_long.error().message();
  EXPECT_EQ(too_long.error().cause(), "too_long");
  EXPECT_TRUE(reader->Next());
  const auto no_record = reader->Next();
  ASSERT_FALSE(no_record);
  EXPECT_NE(no_record.error().message().find("line 4 "), std::string::npos);
  const auto third = reader->Next();
  ASSERT_TRUE(third && *third);
  const auto end = reader->Next();
  EXPECT_TRUE(end && !*end) << "a torn line is passed over";
}

TEST_F(RecordReaderTest, WithoutAFolderThereIsNothingToRead) {
  const auto reader = RecordReader::Open(data_, id_, {});
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code(), Code::kNotFound);
}

}  // namespace
}  // namespace caisson::audit
