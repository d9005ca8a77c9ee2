#include "caisson/audit/node_key.h"

#include <sys/stat.h>
#include <unistd.h>

#include "caisson/audit/audit_fixture.h"

namespace caisson::audit {
namespace {

class NodeKeyTest : public AuditFixture {
 protected:
  std::string KeyPath() const { return path_ + "/node.key"; }
  Result<NodeKey> Load() const { return NodeKey::LoadOrMake(data_, "node.key"); }
};

TEST_F(NodeKeyTest, IsMadeOnceAndLoadedAgain) {
  const auto made = Load();
  ASSERT_TRUE(made) << Words(made.error());
  struct stat info{};
  ASSERT_EQ(stat(KeyPath().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0600U);
  EXPECT_EQ(info.st_size, 32);
  EXPECT_EQ(info.st_nlink, 1U) << "the file beside it is gone";
  const auto loaded = Load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->public_key(), made->public_key());
  const auto other = NodeKey::LoadOrMake(data_, "other.key");
  ASSERT_TRUE(other);
  EXPECT_NE(other->public_key(), made->public_key());
}

TEST_F(NodeKeyTest, RefusesAKeyThatOthersMayRead) {
  ASSERT_TRUE(Load());
  for (const mode_t mode : {0640U, 0604U, 0620U}) {
    ASSERT_EQ(chmod(KeyPath().c_str(), mode), 0);
    const auto refused = Load();
    ASSERT_FALSE(refused) << mode;
    EXPECT_EQ(refused.error().code(), Code::kPermissionDenied);
  }
}

TEST_F(NodeKeyTest, RefusesLinksOtherFilesAndOtherSizes) {
  ASSERT_TRUE(NodeKey::LoadOrMake(data_, "other.key"));
  ASSERT_EQ(symlink("other.key", KeyPath().c_str()), 0);
  EXPECT_FALSE(Load());
  ASSERT_EQ(unlink(KeyPath().c_str()), 0);
  ASSERT_EQ(mkfifo(KeyPath().c_str(), 0600), 0);
  EXPECT_FALSE(Load());
  ASSERT_EQ(unlink(KeyPath().c_str()), 0);
  const os::Fd file(open(KeyPath().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  EXPECT_FALSE(Load()) << "an empty file is not a key, and is not replaced";
  ASSERT_TRUE(os::WriteAll(file.get(), std::string(33, 'k')));
  EXPECT_FALSE(Load());
}

// RFC 8032, section 7.1, test 1: the seed and its public key.
TEST_F(NodeKeyTest, IsEd25519) {
  const std::string seed = {'\x9d', '\x61', '\xb1', '\x9d', '\xef', '\xfd', '\x5a', '\x60', '\xba', '\x84', '\x4a',
                            '\xf4', '\x92', '\xec', '\x2c', '\xc4', '\x44', '\x49', '\xc5', '\x69', '\x7b', '\x32',
                            '\x69', '\x19', '\x70', '\x3b', '\xac', '\x03', '\x1c', '\xae', '\x7f', '\x60'};
  const os::Fd file(open(KeyPath().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(os::WriteAll(file.get(), seed));
  const auto key = Load();
  ASSERT_TRUE(key) << Words(key.error());
  EXPECT_EQ(key->public_key()[0], 0xd7);
  EXPECT_EQ(key->public_key()[1], 0x5a);
  EXPECT_EQ(key->public_key()[31], 0x1a);
}

TEST_F(NodeKeyTest, EveryByteOfASignedHeadCounts) {
  const auto key = Load();
  ASSERT_TRUE(key);
  const record::Time time(std::chrono::milliseconds(1798761599999));
  const SignedHead head = key->Sign(id_, {.seq = 0x0102030405060708U, .hash = Sha256Of("x")}, time);
  EXPECT_TRUE(IsSignedBy(head, key->public_key()));
  const std::string bytes = head.ToBytes();
  EXPECT_EQ(bytes.size(), 145U);
  const auto read = SignedHead::FromBytes(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->sandbox, id_);
  EXPECT_EQ(read->head, head.head);
  EXPECT_EQ(read->time, time);
  EXPECT_TRUE(IsSignedBy(*read, key->public_key()));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 2);
    const auto forged = SignedHead::FromBytes(changed);
    EXPECT_TRUE(!forged || !IsSignedBy(*forged, key->public_key())) << i;
  }
  EXPECT_FALSE(SignedHead::FromBytes(bytes + "x"));
  EXPECT_FALSE(SignedHead::FromBytes(""));
  const auto other = NodeKey::LoadOrMake(data_, "other.key");
  ASSERT_TRUE(other);
  EXPECT_FALSE(IsSignedBy(head, other->public_key()));
}

}  // namespace
}  // namespace caisson::audit
