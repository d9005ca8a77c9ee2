#include "caisson/os/program_file.h"

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "caisson/os/fd.h"

namespace caisson::os {
namespace {

ProgramFile Read(std::string_view bytes) {
  const Fd file(memfd_create("program", MFD_CLOEXEC));
  EXPECT_TRUE(WriteAll(file.get(), bytes));
  return ReadProgramFile(file.get());
}

template <typename T>
std::string BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

struct Types64 {
  using Header = Elf64_Ehdr;
  using Segment = Elf64_Phdr;
  using Dynamic = Elf64_Dyn;
  static constexpr unsigned char kClass = ELFCLASS64;
};
struct Types32 {
  using Header = Elf32_Ehdr;
  using Segment = Elf32_Phdr;
  using Dynamic = Elf32_Dyn;
  static constexpr unsigned char kClass = ELFCLASS32;
};

// An ELF file with just what decides what it is.
template <typename Types>
class Elf {
 public:
  using Segment = typename Types::Segment;

  explicit Elf(std::uint16_t type) {
    std::memcpy(header_.e_ident, ELFMAG, SELFMAG);
    header_.e_ident[EI_CLASS] = Types::kClass;
    header_.e_ident[EI_DATA] = ELFDATA2LSB;
    header_.e_type = type;
    header_.e_phoff = sizeof header_;
    header_.e_phentsize = sizeof(Segment);
  }
  typename Types::Header& header() { return header_; }
  Elf& Interpreter(const std::string& path) { return Add(PT_INTERP, path + '\0'); }
  Elf& Dynamic(const std::vector<std::pair<std::int32_t, std::uint32_t>>& entries) {
    std::string bytes;
    for (const auto& [tag, value] : entries) {
      typename Types::Dynamic entry{};
      entry.d_tag = tag;
      entry.d_un.d_val = value;
      bytes += BytesOf(entry);
    }
    return Add(PT_DYNAMIC, bytes);
  }
  Elf& Add(std::uint32_t type, const std::string& content) {
    Segment segment{};
    segment.p_type = type;
    segment.p_filesz = static_cast<decltype(segment.p_filesz)>(content.size());
    segments_.push_back(segment);
    contents_.push_back(content);
    return *this;
  }
  // What a segment says of its place, whatever is there.
  Elf& Misplace(std::size_t segment, std::uint64_t offset, std::uint64_t size) {
    segments_[segment].p_offset = static_cast<decltype(segments_[segment].p_offset)>(offset);
    segments_[segment].p_filesz = static_cast<decltype(segments_[segment].p_filesz)>(size);
    misplaced_.push_back(segment);
    return *this;
  }
  std::string Bytes() {
    header_.e_phnum = static_cast<std::uint16_t>(segments_.size());
    std::string contents;
    const std::size_t start = sizeof header_ + segments_.size() * sizeof(Segment);
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      const bool is_misplaced = std::find(misplaced_.begin(), misplaced_.end(), i) != misplaced_.end();
      if (!is_misplaced) segments_[i].p_offset = static_cast<decltype(segments_[i].p_offset)>(start + contents.size());
      contents += contents_[i];
    }
    std::string bytes = BytesOf(header_);
    for (const Segment& segment : segments_) bytes += BytesOf(segment);
    return bytes + contents;
  }

 private:
  typename Types::Header header_{};
  std::vector<Segment> segments_;
  std::vector<std::string> contents_;
  std::vector<std::size_t> misplaced_;
};

template <typename Types>
class ReadElfTest : public testing::Test {};
using Classes = testing::Types<Types64, Types32>;
TYPED_TEST_SUITE(ReadElfTest, Classes);

TYPED_TEST(ReadElfTest, TellsProgramsFromLibraries) {
  using File = Elf<TypeParam>;
  const std::string loader = "/lib64/ld.so";
  const auto kind = [](File file) { return Read(file.Bytes()).kind; };
  EXPECT_EQ(kind(File(ET_EXEC)), ProgramKind::kProgram) << "static";
  EXPECT_EQ(kind(File(ET_EXEC).Interpreter(loader)), ProgramKind::kProgram);
  EXPECT_EQ(kind(File(ET_DYN).Interpreter(loader)), ProgramKind::kProgram) << "an old PIE";
  EXPECT_EQ(kind(File(ET_DYN).Interpreter(loader).Dynamic({{DT_FLAGS_1, DF_1_PIE}})), ProgramKind::kProgram);
  EXPECT_EQ(kind(File(ET_DYN).Dynamic({{DT_FLAGS_1, DF_1_PIE | DF_1_NOW}})), ProgramKind::kProgram) << "a static PIE";
  EXPECT_EQ(kind(File(ET_DYN).Interpreter(loader).Dynamic({{DT_SONAME, 1}, {DT_FLAGS_1, DF_1_PIE}})),
            ProgramKind::kProgram)
      << "one that others link against too";
  EXPECT_EQ(kind(File(ET_DYN)), ProgramKind::kLibrary);
  EXPECT_EQ(kind(File(ET_DYN).Dynamic({{DT_FLAGS_1, DF_1_NOW}})), ProgramKind::kLibrary);
  EXPECT_EQ(kind(File(ET_DYN).Interpreter(loader).Dynamic({{DT_SONAME, 1}})), ProgramKind::kLibrary) << "libc.so.6";
  EXPECT_EQ(kind(File(ET_DYN).Dynamic({{DT_NULL, 0}, {DT_FLAGS_1, DF_1_PIE}})), ProgramKind::kLibrary)
      << "what follows the end";
  EXPECT_EQ(kind(File(ET_REL)), ProgramKind::kNone);
  EXPECT_EQ(kind(File(ET_CORE)), ProgramKind::kNone);
}

TYPED_TEST(ReadElfTest, TellsTheInterpreter) {
  using File = Elf<TypeParam>;
  EXPECT_EQ(Read(File(ET_EXEC).Interpreter("/lib/ld.so").Bytes()).interpreter, "/lib/ld.so");
  EXPECT_EQ(Read(File(ET_EXEC).Bytes()).interpreter, "");
  EXPECT_EQ(Read(File(ET_EXEC).Add(PT_INTERP, "/lib/ld.so").Bytes()).interpreter, "/lib/ld.so") << "without its zero";
  const std::string cut("/lib/ld.so\0/other", 17);
  EXPECT_EQ(Read(File(ET_EXEC).Add(PT_INTERP, cut).Bytes()).interpreter, "/lib/ld.so");
  EXPECT_EQ(Read(File(ET_EXEC).Interpreter("/" + std::string(5000, 'x')).Bytes()).interpreter.size(), 4096U);
}

// As those do who run it: otherwise a file shows one thing here and is another there.
TYPED_TEST(ReadElfTest, OfSeveralTakesTheOneThatCounts) {
  using File = Elf<TypeParam>;
  EXPECT_EQ(Read(File(ET_EXEC).Interpreter("/first").Interpreter("/second").Bytes()).interpreter, "/first");
  EXPECT_EQ(Read(File(ET_DYN).Dynamic({{DT_SONAME, 1}}).Dynamic({{DT_FLAGS_1, DF_1_PIE}}).Bytes()).kind,
            ProgramKind::kProgram);
  EXPECT_EQ(Read(File(ET_DYN).Dynamic({{DT_FLAGS_1, DF_1_PIE}}).Dynamic({{DT_SONAME, 1}}).Bytes()).kind,
            ProgramKind::kLibrary);
}

TYPED_TEST(ReadElfTest, FindsAnInterpreterBehindAsManyHeadersAsTheKernelReads) {
  using File = Elf<TypeParam>;
  const std::size_t most = 65536 / sizeof(typename TypeParam::Segment);
  const auto behind = [](std::size_t count) {
    File file(ET_DYN);
    for (std::size_t i = 0; i < count; ++i) file.Add(PT_NULL, "");
    return Read(file.Interpreter("/lib/ld.so").Bytes());
  };
  EXPECT_EQ(behind(most - 1).kind, ProgramKind::kProgram);
  EXPECT_EQ(behind(most - 1).interpreter, "/lib/ld.so");
  EXPECT_EQ(behind(most).interpreter, "");
}

TYPED_TEST(ReadElfTest, BelievesNoPlace) {
  using File = Elf<TypeParam>;
  for (const std::uint64_t place : {std::uint64_t{1} << 20U, std::uint64_t{0xFFFFFFFF}, ~std::uint64_t{0},
                                    (std::uint64_t{1} << 63U) + 0x80000000, (std::uint64_t{1} << 63U) - 1}) {
    File tables(ET_EXEC);
    tables.Interpreter("/lib/ld.so").header().e_phoff = static_cast<decltype(tables.header().e_phoff)>(place);
    EXPECT_EQ(Read(tables.Bytes()).kind, ProgramKind::kProgram) << place;
    EXPECT_EQ(Read(tables.Bytes()).interpreter, "") << place;
    File segments(ET_DYN);
    segments.Interpreter("/lib/ld.so").Dynamic({{DT_FLAGS_1, DF_1_PIE}});
    segments.Misplace(0, place, 10).Misplace(1, place, ~std::uint64_t{0});
    EXPECT_EQ(Read(segments.Bytes()).kind, ProgramKind::kProgram) << place;
    EXPECT_EQ(Read(segments.Bytes()).interpreter, "") << place;
  }
  File long_one(ET_EXEC);
  long_one.Interpreter("/lib/ld.so").Misplace(0, 0, ~std::uint64_t{0});
  EXPECT_LE(Read(long_one.Bytes()).interpreter.size(), 4096U);
}

TYPED_TEST(ReadElfTest, MeansNothingWhenItIsCut) {
  const std::string whole = Elf<TypeParam>(ET_DYN).Interpreter("/lib/ld.so").Dynamic({{DT_FLAGS_1, DF_1_PIE}}).Bytes();
  ASSERT_EQ(Read(whole).kind, ProgramKind::kProgram);
  for (std::size_t size = 0; size < sizeof(typename TypeParam::Header); ++size) {
    EXPECT_EQ(Read(whole.substr(0, size)).kind, ProgramKind::kNone) << size;
  }
  for (std::size_t size = sizeof(typename TypeParam::Header); size < whole.size(); ++size) {
    const ProgramFile cut = Read(whole.substr(0, size));
    EXPECT_TRUE(cut.kind == ProgramKind::kLibrary || cut.kind == ProgramKind::kProgram) << size;
    EXPECT_TRUE(std::string_view("/lib/ld.so").starts_with(cut.interpreter)) << size;
  }
}

TEST(ReadProgramFileTest, KnowsNoOtherElf) {
  std::string file = Elf<Types64>(ET_EXEC).Bytes();
  file[EI_CLASS] = 3;
  EXPECT_EQ(Read(file).kind, ProgramKind::kNone);
  file[EI_CLASS] = ELFCLASSNONE;
  EXPECT_EQ(Read(file).kind, ProgramKind::kNone);
  file[EI_CLASS] = ELFCLASS64;
  file[0] = 'E';
  EXPECT_EQ(Read(file).kind, ProgramKind::kNone);
}

TEST(ReadProgramFileTest, KnowsItself) {
  const Fd self(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const ProgramFile file = ReadProgramFile(self.get());
  EXPECT_EQ(file.kind, ProgramKind::kProgram);
  EXPECT_TRUE(file.interpreter.empty() || file.interpreter.starts_with('/')) << file.interpreter;
}

TEST(ReadProgramFileTest, ReadsScriptsAsTheKernelDoes) {
  struct Case {
    std::string_view text, interpreter, argument;
  };
  for (const auto& [text, interpreter, argument] : std::vector<Case>{
           {"#!/bin/sh\nexit 1\n", "/bin/sh", ""},
           {"#!/bin/sh", "/bin/sh", ""},
           {"#! \t /bin/sh \t -e \t -u \n", "/bin/sh", "-e"},
           {"#!/usr/bin/env python3\n", "/usr/bin/env", "python3"},
           {"#!/usr/bin/env -S python3 -u\n", "/usr/bin/env", "-S"},
           {"#!/bin/sh\r\n", "/bin/sh\r", ""},
           {std::string_view("#!/bin/sh\0x y\n", 14), "/bin/sh", ""},
           {std::string_view("#!/bin/env sh\0x\n", 16), "/bin/env", "sh"},
       }) {
    const ProgramFile file = Read(text);
    EXPECT_EQ(file.kind, ProgramKind::kScript) << text;
    EXPECT_EQ(file.interpreter, interpreter) << text;
    EXPECT_EQ(file.argument, argument) << text;
  }
  for (const std::string_view text :
       {"", "#", "#!", "#!\n/bin/sh\n", "#! \t \n", " #!/bin/sh\n", "# !/bin/sh\n", "echo\n"}) {
    EXPECT_EQ(Read(text).kind, ProgramKind::kNone) << text;
    EXPECT_EQ(Read(text).interpreter, "") << text;
  }
}

// The kernel reads 256 bytes, and refuses an interpreter that may go on behind them.
TEST(ReadProgramFileTest, ReadsNoMoreOfAScriptThanTheKernelDoes) {
  const auto with_name = [](std::size_t size) { return "#!/" + std::string(size - 1, 'i'); };
  EXPECT_EQ(Read(with_name(253)).interpreter.size(), 253U) << "a file of 255 bytes";
  EXPECT_EQ(Read(with_name(254)).kind, ProgramKind::kNone);
  EXPECT_EQ(Read(with_name(253) + "\n").interpreter.size(), 253U);
  EXPECT_EQ(Read(with_name(253) + " argument\n").interpreter.size(), 253U);
  EXPECT_EQ(Read(with_name(254) + "\n").kind, ProgramKind::kNone);
  EXPECT_EQ(Read(with_name(1000) + "\n").kind, ProgramKind::kNone);
  EXPECT_EQ(Read("#!" + std::string(300, ' ') + "/bin/sh\n").kind, ProgramKind::kNone);
  const ProgramFile cut = Read("#!/bin/env " + std::string(400, 'a') + "\n");
  EXPECT_EQ(cut.interpreter, "/bin/env");
  EXPECT_EQ(cut.argument.size(), 255U - 11U);
}

TEST(ReadProgramFileTest, WhatCannotBeReadIsNone) {
  EXPECT_EQ(ReadProgramFile(-1).kind, ProgramKind::kNone);
  const Fd folder(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(ReadProgramFile(folder.get()).kind, ProgramKind::kNone);
  const Fd path_only(open("/proc/self/exe", O_PATH | O_CLOEXEC));
  EXPECT_EQ(ReadProgramFile(path_only.get()).kind, ProgramKind::kNone);
}

}  // namespace
}  // namespace caisson::os
