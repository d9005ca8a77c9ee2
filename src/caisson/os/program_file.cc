#include "caisson/os/program_file.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace caisson::os {
namespace {

constexpr std::size_t kHeaderBytes = 65536;  // as the kernel takes them
constexpr std::size_t kMostDynamic = 4096;
constexpr std::size_t kMostPath = 4096;
constexpr std::size_t kScriptLine = 256;  // as the kernel reads: BINPRM_BUF_SIZE

// `count` bytes at `offset`, or fewer at the end of the file.
std::string ReadAt(int fd, std::uint64_t offset, std::size_t count) {
  std::string bytes(count, '\0');
  const ssize_t n = pread(fd, bytes.data(), count, static_cast<off_t>(offset));
  bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return bytes;
}

template <typename T>
std::optional<T> StructAt(std::string_view bytes, std::size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct Elf64 {
  using Header = Elf64_Ehdr;
  using Segment = Elf64_Phdr;
  using Dynamic = Elf64_Dyn;
};
struct Elf32 {
  using Header = Elf32_Ehdr;
  using Segment = Elf32_Phdr;
  using Dynamic = Elf32_Dyn;
};

struct DynamicFlags {
  bool is_pie = false;
  bool has_name = false;
};

template <typename Elf>
DynamicFlags ReadDynamic(int fd, const typename Elf::Segment& segment) {
  using Dynamic = typename Elf::Dynamic;
  const std::size_t size = std::min<std::size_t>(segment.p_filesz, kMostDynamic * sizeof(Dynamic));
  const std::string bytes = ReadAt(fd, segment.p_offset, size);
  DynamicFlags flags;
  for (std::size_t at = 0; const auto entry = StructAt<Dynamic>(bytes, at); at += sizeof(Dynamic)) {
    if (entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_FLAGS_1) flags.is_pie = (entry->d_un.d_val & DF_1_PIE) != 0;
    if (entry->d_tag == DT_SONAME) flags.has_name = true;
  }
  return flags;
}

template <typename Elf>
ProgramFile ReadElf(int fd, std::string_view head) {
  ProgramFile file;
  const auto header = StructAt<typename Elf::Header>(head, 0);
  if (!header || (header->e_type != ET_EXEC && header->e_type != ET_DYN)) return file;
  using Segment = typename Elf::Segment;
  const std::size_t size = std::min<std::size_t>(header->e_phnum * sizeof(Segment), kHeaderBytes);
  const std::string table = ReadAt(fd, header->e_phoff, size);
  // Of several, the kernel takes the first interpreter and the loader the last dynamic section.
  std::optional<Segment> interpreter;
  std::optional<Segment> dynamic;
  for (std::size_t at = 0; const auto segment = StructAt<Segment>(table, at); at += sizeof(Segment)) {
    if (segment->p_type == PT_DYNAMIC) dynamic = segment;
    if (segment->p_type == PT_INTERP && !interpreter) interpreter = segment;
  }
  const DynamicFlags flags = dynamic ? ReadDynamic<Elf>(fd, *dynamic) : DynamicFlags{};
  if (interpreter) {
    file.interpreter = ReadAt(fd, interpreter->p_offset, std::min<std::size_t>(interpreter->p_filesz, kMostPath));
    file.interpreter.resize(std::min(file.interpreter.find('\0'), file.interpreter.size()));
  }
  const bool is_program = header->e_type == ET_EXEC || flags.is_pie || (interpreter && !flags.has_name);
  file.kind = is_program ? ProgramKind::kProgram : ProgramKind::kLibrary;
  return file;
}

// As the kernel splits the line: the interpreter, and the rest as one argument, of which the first word is told.
ProgramFile ReadScript(std::string_view head) {
  constexpr std::string_view kBlanks = " \t";
  std::string_view line = head.substr(2, head.find_first_of(std::string_view("\n\0", 2)) - 2);
  const bool is_cut = head.size() == kScriptLine && line.size() == kScriptLine - 2;
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  // An interpreter that may go on is none; of an argument that goes on, the beginning is passed, but for the last byte.
  if (is_cut && line.find_first_of(kBlanks) == std::string_view::npos) return {};
  if (is_cut) line.remove_suffix(1);
  const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
  ProgramFile file;
  file.interpreter = line.substr(0, end);
  line.remove_prefix(end);
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  file.argument = line.substr(0, line.find_first_of(kBlanks));
  if (!file.interpreter.empty()) file.kind = ProgramKind::kScript;
  return file;
}

}  // namespace

ProgramFile ReadProgramFile(int fd) {
  const std::string head = ReadAt(fd, 0, kScriptLine);
  if (head.starts_with("#!")) return ReadScript(head);
  if (head.size() <= EI_CLASS || !head.starts_with(ELFMAG)) return {};
  if (head[EI_CLASS] == ELFCLASS64) return ReadElf<Elf64>(fd, head);
  return head[EI_CLASS] == ELFCLASS32 ? ReadElf<Elf32>(fd, head) : ProgramFile{};
}

}  // namespace caisson::os
