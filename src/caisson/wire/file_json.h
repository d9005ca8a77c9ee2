#pragma once

#include "caisson/sandbox/files.h"

namespace boost::json {
class object;
}

namespace caisson::wire {

// Entries of folders: {name,type,size_bytes,mode,modified_at,link_target}, with `path` for `name` in a tree. A name or
// a target that is not UTF-8 makes both base64, and then there is an `encoding` that says so.
boost::json::object EntryObject(const sandbox::FileEntry& entry);
// With "unreadable" too.
boost::json::object EntryObject(const sandbox::TreeEntry& entry);

}  // namespace caisson::wire
