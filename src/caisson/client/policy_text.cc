#include "caisson/client/policy_text.h"

#include <boost/json.hpp>

#include "caisson/base/utf8.h"

namespace caisson::client {

Result<boost::json::object> ObjectOf(const PolicyText& policy) {
  if (policy.preset) return boost::json::object{{"preset", *policy.preset}};
  if (!IsUtf8(policy.text) || !IsUtf8(policy.name)) {
    return Fail(Error(Code::kInvalidArgument, "the policy " + Quoted(policy.name) + " is not UTF-8")
                    .Because("a policy is text")
                    .Remedy("save it as UTF-8"));
  }
  return boost::json::object{{"text", policy.text}, {"format", policy.format}, {"name", policy.name}};
}

}  // namespace caisson::client
