#include "caisson/cli/doctor.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace caisson::cli {
namespace {

const os::Primitive kFine = {"landlock", os::Finding::kOk, "ABI 7", "", ""};
const os::Primitive kWeak = {"memfd_noexec", os::Finding::kDegraded, "no such setting", "a cost", "a remedy"};
const os::Primitive kLacking = {"root", os::Finding::kMissing, "uid 5\x1B", "no sandbox", "sudo"};

TEST(DoctorTable, ShowsCostAndRemedyOfWhatIsNotInOrder) {
  const std::string text = DoctorTable({kFine, kWeak}, Colour::kNo);
  EXPECT_NE(text.find("ok        landlock"), std::string::npos) << text;
  EXPECT_NE(text.find("cost: a cost"), std::string::npos);
  EXPECT_NE(text.find("fix:  a remedy"), std::string::npos);
  EXPECT_NE(text.find("This host can make sandboxes"), std::string::npos);
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_NE(DoctorTable({kFine}, Colour::kYes).find("\033[32m"), std::string::npos);
}

TEST(DoctorTable, SaysWhenNoSandboxCanBeMade) {
  const std::string text = DoctorTable({kFine, kLacking}, Colour::kNo);
  EXPECT_NE(text.find("This host cannot make sandboxes"), std::string::npos);
  EXPECT_NE(text.find("uid 5\\x1b"), std::string::npos);
}

TEST(DoctorJson, HasTheVerdictAndEveryPrimitive) {
  const boost::json::object report = boost::json::parse(DoctorJson({kFine, kLacking})).as_object();
  EXPECT_EQ(report.at("can_run"), false);
  EXPECT_TRUE(report.at("tiers").as_array().empty());
  EXPECT_FALSE(report.at("kernel").as_string().empty());
  const boost::json::array& list = report.at("primitives").as_array();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].at("name"), "landlock");
  EXPECT_EQ(list[0].at("status"), "ok");
  EXPECT_TRUE(list[0].at("cost").is_null());
  EXPECT_EQ(list[1].at("status"), "missing");
  EXPECT_EQ(list[1].at("remedy"), "sudo");
  EXPECT_EQ(boost::json::parse(DoctorJson({kWeak})).at("can_run"), true);
}

TEST(ExamineHost, LooksForTheOtherPrograms) {
  const std::vector<os::Primitive> primitives = ExamineHost();
  ASSERT_FALSE(primitives.empty());
  EXPECT_EQ(primitives.back().name, "programs");
}

}  // namespace
}  // namespace caisson::cli
