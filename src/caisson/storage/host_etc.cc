#include "caisson/storage/host_etc.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "caisson/os/fd.h"
#include "caisson/storage/public_copy.h"

namespace caisson::storage {
namespace {

// What the programs under /usr look up in /etc and everybody may read anyway.
constexpr std::array kCopied = {
    "X11/rgb.txt",
    "alternatives",
    "bash.bashrc",
    "ca-certificates.conf",
    "ca-certificates",
    "debian_version",
    "default/locale",
    "dpkg/origins",
    "emacs",
    "fonts",
    "gai.conf",
    "groff",
    "host.conf",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "libnl-3",
    "locale.alias",
    "lsb-release",
    "magic",
    "magic.mime",
    "mailcap",
    "manpath.config",
    "maven/logging",
    "maven/m2.conf",
    "mime.types",
    "networks",
    "os-release",
    "pam.d",
    "perl",
    "pki/tls/certs",
    "profile",
    "profile.d",
    "protocols",
    "rpc",
    "services",
    "sgml",
    "shells",
    "skel",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "vim",
    "xattr.conf",
    "xdg",
    "xml",
};

// Folders of one language's installation, with the version in the name.
constexpr std::array kCopiedPrefixes = {"java-", "lua", "php", "python2", "python3", "R", "ruby"};

constexpr std::string_view kPasswd =
    "root:x:0:0:root:/root:/bin/bash\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
    "agent:x:1000:1000:agent:/home/agent:/bin/bash\n";
constexpr std::string_view kGroup =
    "root:x:0:\n"
    "tty:x:5:\n"
    "users:x:100:\n"
    "nogroup:x:65534:\n"
    "agent:x:1000:\n";
constexpr std::string_view kNsswitch =
    "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\n"
    "protocols: files\nservices: files\nethers: files\nrpc: files\n";
constexpr std::string_view kHosts = "127.0.0.1 localhost sandbox\n::1 localhost ip6-localhost ip6-loopback\n";

constexpr std::array<std::pair<const char*, std::string_view>, 7> kMade = {{
    {"passwd", kPasswd},
    {"group", kGroup},
    {"nsswitch.conf", kNsswitch},
    {"hosts", kHosts},
    {"hostname", "sandbox\n"},
    {"resolv.conf", ""},
    {"timezone", "Etc/UTC\n"},
}};

Status WriteFile(int folder, const char* name, std::string_view content) {
  const os::Fd file(openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file.valid()) return Fail(Error::FromErrno(errno, std::string("cannot make etc/") + name));
  return os::WriteAll(file.get(), content);
}

Status CopyLanguageFolders(int host_etc, int etc) {
  const int again = openat(host_etc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(again < 0 ? nullptr : fdopendir(again), closedir);
  if (listing == nullptr) return Fail(Error::FromErrno(errno, "cannot list /etc"));
  while (true) {
    errno = 0;
    const dirent* const entry = readdir(listing.get());
    if (entry == nullptr) return errno == 0 ? Status() : Fail(Error::FromErrno(errno, "cannot list /etc"));
    const std::string name = entry->d_name;
    for (const char* prefix : kCopiedPrefixes) {
      if (name.starts_with(prefix) && entry->d_type == DT_DIR) CAISSON_CHECK_OK(CopyPublic(host_etc, etc, name));
    }
  }
}

}  // namespace

Status MakeHostEtc(int host_root, int image) {
  const os::Fd host_etc(openat(host_root, "etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!host_etc.valid()) return Fail(Error::FromErrno(errno, "cannot open the host's /etc"));
  if (mkdirat(image, "etc", 0755) != 0) return Fail(Error::FromErrno(errno, "cannot make etc"));
  const os::Fd etc(openat(image, "etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!etc.valid()) return Fail(Error::FromErrno(errno, "cannot open etc"));
  for (const auto& [name, content] : kMade) CAISSON_CHECK_OK(WriteFile(etc.get(), name, content));
  if (symlinkat("/usr/share/zoneinfo/Etc/UTC", etc.get(), "localtime") != 0) {
    return Fail(Error::FromErrno(errno, "cannot make etc/localtime"));
  }
  if (symlinkat("/proc/mounts", etc.get(), "mtab") != 0) return Fail(Error::FromErrno(errno, "cannot make etc/mtab"));
  for (const char* path : kCopied) CAISSON_CHECK_OK(CopyPublic(host_etc.get(), etc.get(), path));
  return CopyLanguageFolders(host_etc.get(), etc.get());
}

}  // namespace caisson::storage
