#include <gtest/gtest.h>

#include <filesystem>

#include "support/caisson_run.h"
#include "support/integration_test.h"
#include "support/temp_folder.h"

// Programs that nobody changed for it do in a copy of a folder what they do on the host as an ordinary user.

namespace caisson::support {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPatience{180};

// The same on both sides, and what makes two runs of a program alike.
constexpr const char* kPreamble = R"(
umask 022
export PATH=/usr/local/bin:/usr/bin:/bin HOME=/home/agent LANG=C.UTF-8 TZ=UTC PYTHONDONTWRITEBYTECODE=1
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_AUTHOR_DATE='2020-01-01T00:00:00Z'
export GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
)";

// Prints each name below the folder with what a user can tell of it, except what differs from run to run; with an
// argument only how many there are and the digest of that. The time is of what is as old as the folder was made.
constexpr const char* kList = R"(
python3 - "$@" <<'END'
import hashlib, os, stat, sys
lines = []
for folder, folders, files in os.walk('.'):
    folders[:] = [name for name in folders if name not in ('.git', '__pycache__')]
    for name in folders + files:
        path = os.path.join(folder, name)
        info = os.lstat(path)
        line = [path, oct(info.st_mode), str(info.st_uid), str(info.st_gid)]
        if stat.S_ISLNK(info.st_mode):
            line.append(os.readlink(path))
        elif not stat.S_ISDIR(info.st_mode):
            line += [str(info.st_size), str(info.st_nlink)]
        if stat.S_ISREG(info.st_mode):
            line.append(hashlib.sha256(open(path, 'rb').read()).hexdigest())
        if info.st_mtime < 1e9:
            line.append(str(info.st_mtime_ns))
        lines.append(' '.join(line))
lines.sort()
text = '\n'.join(lines)
print(len(lines), hashlib.sha256(text.encode()).hexdigest() if len(sys.argv) > 1 else text)
END
)";

// On the host: in a mount namespace where the folder is where a sandbox shows it.
constexpr const char* kOnTheHost = R"(
mount -t tmpfs -o mode=0755 tmpfs /home
mkdir -p /home/agent/workspace
chown 1000:1000 /home/agent
mount --bind "$1" /home/agent/workspace
cd /home/agent/workspace
exec setpriv --reuid 1000 --regid 1000 --clear-groups sh -ec "$2"
)";

class RealWork : public IntegrationTest {
 protected:
  void SetUp() override {
    IntegrationTest::SetUp();
    if (IsSkipped()) return;
    fs::create_directories(folder_ / "docs/old/deep");
    WriteFile(folder_ / "readme", "read me\n");
    WriteFile(folder_ / "tool", "#!/bin/sh\necho tool\n", 0755);
    WriteFile(folder_ / "docs/guide", "guide\n");
    WriteFile(folder_ / "docs/old/notes", std::string(100'000, 'n'));
    WriteFile(folder_ / "docs/old/deep/three", "3\n", 0600);
    fs::create_symlink("../readme", folder_ / "docs/link");
  }

  // Whether the host has it where both sides look.
  static bool Has(const std::string& program) {
    return RunProgram({.argv = {"sh", "-c", "PATH=/usr/local/bin:/usr/bin:/bin command -v " + program}}).status == 0;
  }

  // Runs the script on the host and in a sandbox, each in a copy of the folder, with the command `list` in it.
  void ExpectSame(const std::string& script) {
    MakeOrdinary();
    const TempFolder copies;
    ASSERT_EQ(RunProgram({.argv = {"cp", "-a", folder_.path(), copies / "copy"}}).status, 0);
    const std::string whole = std::string(kPreamble) + "list() {" + kList + "}\n" + script;
    const Ended outside =
        RunProgram({.argv = {"unshare", "--mount", "sh", "-ec", kOnTheHost, "sh", copies / "copy", whole}}, kPatience);
    const Ended inside =
        RunProgram(RunSpec({"--workspace", folder_.path(), "--timeout", "170s"}, {"sh", "-ec", whole}), kPatience);
    EXPECT_EQ(outside.status, 0) << outside.err;
    EXPECT_EQ(inside.status, outside.status) << inside.err;
    EXPECT_FALSE(outside.out.empty());
    EXPECT_EQ(inside.out, outside.out) << inside.err;
  }

  const TempFolder& folder() const { return folder_; }

 private:
  // Of a user, and old.
  void MakeOrdinary() const {
    const Ended ended = RunProgram(
        {.argv = {"sh", "-ec", "chown -hR 1000:1000 . && find . -exec touch -h -d 2001-02-03T04:05:06.789Z {} +"},
         .directory = folder_.path()});
    ASSERT_EQ(ended.status, 0) << ended.err;
  }

  TempFolder folder_;
};

TEST_F(RealWork, AFolderIsRenamedWithGit) {
  if (!Has("git")) GTEST_SKIP() << "needs git";
  ExpectSame(R"(
git init -q -b main
git add -A
git commit -q -m first
git mv docs papers
echo more >> papers/guide
git status --porcelain
git commit -q -a -m second
git mv papers/old papers/new
git stash -q
git checkout -q -b side HEAD~1
git mv docs/old older
git commit -q -a -m side
git checkout -q main
git stash pop -q
git commit -q -a -m third
git log --all --format='%H %s' --name-status -M
git status --porcelain
git fsck --strict
git gc -q
git fsck
list
)");
}

TEST_F(RealWork, ARepositoryOfTheFolderIsUsed) {
  if (!Has("git")) GTEST_SKIP() << "needs git";
  const Ended made = RunProgram(
      {.argv = {"sh", "-ec", std::string(kPreamble) + "git init -q -b main; git add -A; git commit -q -m first"},
       .directory = folder().path()});
  ASSERT_EQ(made.status, 0) << made.err;
  ExpectSame(R"(
git status --porcelain
git mv docs papers
git mv papers/old elder
git commit -q -m second
git status --porcelain
git gc -q
git fsck
git log --format='%H %s' --name-status -M
git reset -q --hard HEAD~1
git clean -fdq
git status --porcelain
list
)");
}

TEST_F(RealWork, APythonEnvironmentIsMade) {
  if (!Has("python3")) GTEST_SKIP() << "needs python3";
  ExpectSame("python3 -m venv --without-pip env; env/bin/python -c 'import sys; print(sys.prefix)'; list");
}

TEST_F(RealWork, APythonEnvironmentWithItsInstallerIsMade) {
  if (RunProgram({.argv = {"/usr/bin/python3", "-c", "import ensurepip, venv"}}).status != 0) {
    GTEST_SKIP() << "needs python3 with ensurepip";
  }
  ExpectSame("python3 -m venv env; env/bin/pip --version; mv env elsewhere; mv elsewhere env; rm env/bin/pip*; list");
}

TEST_F(RealWork, ATreeOfFiftyThousandFilesIsMadeAndRemoved) {
  if (!Has("python3")) GTEST_SKIP() << "needs python3";
  ExpectSame(R"(
python3 - <<'END'
import os
for package in range(500):
    folder = f'node_modules/p{package}'
    os.makedirs(folder + '/lib')
    for file in range(100):
        with open(f'{folder}/lib/{file}.js', 'w') as out:
            out.write(f'exports.value = {package * file};\n')
    os.symlink('lib/0.js', folder + '/main.js')
os.rename('node_modules', '.node_modules-1')
os.rename('.node_modules-1', 'node_modules')
END
list digest
rm -r node_modules
list
)");
}

TEST_F(RealWork, FoldersOfTheWorkspaceAreRenamed) {
  if (!Has("python3")) GTEST_SKIP() << "needs python3";
  ExpectSame(R"(
python3 - <<'END'
import os
def attempt(act, *names):
    try:
        act(*names)
        print('done', *names)
    except OSError as error:
        print(error.errno, *names)
attempt(os.rename, 'docs', 'papers')
attempt(os.rename, 'papers/old', 'old')
attempt(os.rename, 'old', 'papers/deep')
attempt(os.rename, 'papers', 'papers/deep/in')
attempt(os.mkdir, 'empty')
attempt(os.rename, 'papers/deep', 'empty')
attempt(os.rename, 'papers', 'empty')
attempt(os.rename, 'readme', 'papers')
attempt(os.rename, 'papers', 'readme')
attempt(os.rename, 'papers', 'docs')
attempt(os.rmdir, 'docs')
attempt(os.link, 'docs/link', 'link')
attempt(os.mkdir, 'docs')
END
list
)");
}

TEST_F(RealWork, TreesAreCopied) {
  ExpectSame(R"(
mkfifo docs/pipe
touch -d 2000-01-01T01:02:03.456Z docs/pipe
cp -a docs copy
cp -a --no-preserve=links docs/. copy-of-content
cp -rl docs linked
rm -r docs
mv copy docs
tar -cf archive.tar --sort=name docs copy-of-content linked
mkdir out
tar -xf archive.tar -C out
rm archive.tar
list
)");
}

TEST_F(RealWork, TreesAreSynchronized) {
  if (!Has("rsync")) GTEST_SKIP() << "needs rsync";
  ExpectSame(R"(
rsync -aH docs/ copy/
echo more >> docs/guide
rm docs/old/notes
rsync -aH --delete --checksum --itemize-changes docs/ copy/
rsync -a --inplace readme copy/guide
rsync -a --remove-source-files docs/old/ taken/
list
)");
}

TEST_F(RealWork, ADatabaseWithAWriteAheadLog) {
  if (!Has("python3")) GTEST_SKIP() << "needs python3";
  ExpectSame(R"(
python3 - <<'END'
import os, sqlite3
def connect():
    return sqlite3.connect('data.db', timeout=60, isolation_level=None)
first = connect()
print(first.execute('pragma journal_mode = wal').fetchone())
first.execute('create table entries (writer integer, number integer, text text)')
first.close()
children = []
for writer in range(3):
    child = os.fork()
    if child == 0:
        own = connect()
        for batch in range(10):
            own.execute('begin immediate')
            own.executemany('insert into entries values (?, ?, ?)',
                            [(writer, batch * 100 + i, 'x' * 50) for i in range(100)])
            own.execute('commit')
        own.close()
        os._exit(0)
    children.append(child)
print([os.waitpid(child, 0)[1] for child in children])
last = connect()
print(sorted(os.listdir('.')))
print(last.execute('select writer, count(*), sum(number) from entries group by writer order by writer').fetchall())
print(last.execute('pragma wal_checkpoint(truncate)').fetchone())
print(last.execute('pragma integrity_check').fetchone())
last.execute('vacuum')
last.close()
os.remove('data.db')
END
list
)");
}

TEST_F(RealWork, TheDatabaseShell) {
  if (!Has("sqlite3")) GTEST_SKIP() << "needs sqlite3";
  ExpectSame(R"(
sqlite3 data.db 'pragma journal_mode = wal; create table t (x); insert into t values (1), (2);'
sqlite3 data.db 'begin; insert into t values (3); rollback; insert into t values (4); select sum(x) from t;'
sqlite3 data.db '.dump'
rm data.db
list
)");
}

TEST_F(RealWork, FilesAreWrittenThroughMappings) {
  if (!Has("python3")) GTEST_SKIP() << "needs python3";
  ExpectSame(R"(
python3 - <<'END'
import mmap, os
with open('shared', 'w+b') as file:
    file.truncate(1 << 20)
    with mmap.mmap(file.fileno(), 0) as memory:
        children = []
        for part in range(4):
            child = os.fork()
            if child == 0:
                for i in range(part, 1 << 20, 4096):
                    memory[i] = 65 + part
                os._exit(0)
            children.append(child)
        print([os.waitpid(child, 0)[1] for child in children])
        file.seek(0)
        print(file.read(8))
with open('docs/old/notes', 'r+b') as file, mmap.mmap(file.fileno(), 0) as memory:
    memory[10:14] = b'MMAP'
    memory.flush()
    print(open('docs/old/notes', 'rb').read(20))
    os.ftruncate(file.fileno(), 150000)
    memory.resize(150000)
    memory[149999:150000] = b'!'
END
list
)");
}

// What the image has is renamed by root, and is whole under its new name.
TEST_F(RealWork, FoldersOfTheImageAreRenamed) {
  const Ended ended = RunScript({"--user", "root"}, R"(
cd /etc
find alternatives ssl -printf '%P %y %m %l\n' | sort > /tmp/before
python3 - <<'END'
import os
os.rename('/etc/alternatives', '/etc/other')
os.rename('/etc/ssl', '/etc/other/ssl')
os.rename('/etc/other/ssl', '/etc/ssl')
os.rename('/etc/other', '/etc/alternatives')
END
find alternatives ssl -printf '%P %y %m %l\n' | sort | cmp - /tmp/before && wc -l < /tmp/before
)");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_GT(std::atoi(ended.out.c_str()), 2) << ended.out;
}

}  // namespace
}  // namespace caisson::support
