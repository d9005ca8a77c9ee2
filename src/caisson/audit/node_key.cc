#include "caisson/audit/node_key.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace caisson::audit {
namespace {

static_assert(crypto_sign_SEEDBYTES == 32 && crypto_sign_SECRETKEYBYTES == 64);
static_assert(crypto_sign_PUBLICKEYBYTES == sizeof(PublicKey) && crypto_sign_BYTES == sizeof(Signature));

using Seed = std::array<std::uint8_t, 32>;

const unsigned char* Data(const std::string& text) { return reinterpret_cast<const unsigned char*>(text.data()); }

Status StartLibrary() {
  if (sodium_init() < 0) return Fail(Error(Code::kInternal, "libsodium does not start"));
  return {};
}

Status CheckFile(const os::Fd& file, const std::string& name) {
  struct stat info{};
  if (fstat(file.get(), &info) != 0) return Fail(Error::FromErrno(errno, "cannot look at the node's key"));
  const std::string what = "the node's key in '" + name + "' cannot be used";
  if (!S_ISREG(info.st_mode) || info.st_size != static_cast<off_t>(sizeof(Seed))) {
    return Fail(Error(Code::kInvalidArgument, what)
                    .Because("it is not a file of 32 bytes")
                    .Remedy("move it away; a new key is made, and heads signed with the old one need its public key"));
  }
  if ((info.st_mode & 077U) != 0) {
    return Fail(Error(Code::kPermissionDenied, what)
                    .Because("others than its owner may read or write it")
                    .Remedy("make a new key when somebody may have read it, or set its mode to 0600"));
  }
  return {};
}

Result<os::Fd> OpenKey(const os::Fd& folder, const std::string& name) {
  os::Fd file(openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot open the node's key '" + name + "'"));
  return file;
}

// A whole file under its name or none: written beside, then linked, which fails when another was quicker.
Status MakeKey(const os::Fd& folder, const std::string& name) {
  const std::string beside = "." + name + "." + std::to_string(getpid()) + "." + std::to_string(randombytes_random());
  const os::Fd file(openat(folder.get(), beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot make the node's key"));
  Seed seed{};
  randombytes_buf(seed.data(), seed.size());
  Status made = os::WriteAll(file.get(), {reinterpret_cast<const char*>(seed.data()), seed.size()});
  sodium_memzero(seed.data(), seed.size());
  if (made && fsync(file.get()) != 0) made = Fail(Error::FromErrno(errno, "cannot write the node's key"));
  if (made && linkat(folder.get(), beside.c_str(), folder.get(), name.c_str(), 0) != 0 && errno != EEXIST) {
    made = Fail(Error::FromErrno(errno, "cannot make the node's key"));
  }
  unlinkat(folder.get(), beside.c_str(), 0);
  if (made && fsync(folder.get()) != 0)
    made = Fail(Error::FromErrno(errno, "cannot write the folder of the node's key"));
  return made;
}

}  // namespace

NodeKey::NodeKey(Seed& seed) {
  crypto_sign_seed_keypair(public_.data(), secret_.data(), seed.data());
  sodium_memzero(seed.data(), seed.size());
}

NodeKey::NodeKey(NodeKey&& other) noexcept : secret_(other.secret_), public_(other.public_) {
  sodium_memzero(other.secret_.data(), other.secret_.size());
}

NodeKey::~NodeKey() { sodium_memzero(secret_.data(), secret_.size()); }

Result<NodeKey> NodeKey::LoadOrMake(const os::Fd& folder, const std::string& name) {
  CAISSON_CHECK_OK(StartLibrary());
  auto file = OpenKey(folder, name);
  if (!file && file.error().errno_value() == ENOENT) {
    CAISSON_CHECK_OK(MakeKey(folder, name));
    file = OpenKey(folder, name);
  }
  if (!file) return Fail(file.error());
  CAISSON_CHECK_OK(CheckFile(*file, name));
  CAISSON_TRY(std::string bytes, os::ReadAll(file->get(), sizeof(Seed)));
  Seed seed{};
  const bool is_whole = bytes.size() == seed.size();
  std::copy_n(bytes.begin(), std::min(bytes.size(), seed.size()), seed.begin());
  sodium_memzero(bytes.data(), bytes.size());
  if (!is_whole) return Fail(Error(Code::kInternal, "the node's key changed while it was read"));
  return NodeKey(seed);
}

SignedHead NodeKey::Sign(const SandboxId& sandbox, const record::Head& head, record::Time time) const {
  SignedHead made{.sandbox = sandbox, .head = head, .time = time};
  const std::string text = made.SignedText();
  crypto_sign_detached(made.signature.data(), nullptr, Data(text), text.size(), secret_.data());
  return made;
}

bool IsSignedBy(const SignedHead& head, const PublicKey& key) {
  if (!StartLibrary()) return false;
  const std::string text = head.SignedText();
  return crypto_sign_verify_detached(head.signature.data(), Data(text), text.size(), key.data()) == 0;
}

}  // namespace caisson::audit
