#pragma once

#include "caisson/tool/data.h"

namespace boost::json {
class object;
}

namespace caisson::wire {

// The field `data` of a tool's result, as the tool's outputSchema in api/tools says.
boost::json::object DataObject(const tool::Data& data);

}  // namespace caisson::wire
