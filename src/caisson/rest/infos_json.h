#pragma once

#include <string>

#include "caisson/plan/change.h"
#include "caisson/sandbox/files.h"
#include "caisson/service/requests.h"

namespace boost::json {
class object;
}

namespace caisson::rest {

// What the service tells, as JSON: every field is there, those that do not apply are null.

boost::json::object SandboxObject(const service::SandboxInfo& info);
boost::json::object SandboxPage(const service::Page<service::SandboxInfo>& page);
boost::json::object CommandObject(const service::CommandInfo& info);
boost::json::object StepObject(const service::StepResult& step);
// With {"command_id":..} as its data.
boost::json::object ToolStepObject(const service::StepResult& step);
// {"name","preset","digest","format","text"}
boost::json::object PolicyObject(const service::PolicyInfo& info);
boost::json::object EventObject(const service::Event& event);
// {"items":[{name,type,size_bytes,mode,modified_at,link_target}]}. A name or target that is not UTF-8 is base64, and
// its entry says so.
boost::json::object FolderObject(const std::vector<sandbox::FileEntry>& entries);
// {"items":[..],"truncated":..}
boost::json::object ChangesObject(const plan::ChangeList& list);

}  // namespace caisson::rest
