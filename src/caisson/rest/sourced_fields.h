#pragma once

#include <optional>

#include "caisson/service/requests.h"

namespace boost::json {
class value;
}  // namespace boost::json

namespace caisson::json {
class ObjectReader;
}  // namespace caisson::json

namespace caisson::rest {

// Where each value of a sandbox came from: the object `sources`, in the body that makes one and in what describes it.

// Of the fields that are in the body: what its `sources` say, otherwise "request"; "default" there is as if the field
// was not given. Read last.
service::ValueSources ReadSources(json::ObjectReader& reader);
// With "default" for what nobody chose; null when it is not known.
boost::json::value SourcesValue(const std::optional<service::ValueSources>& sources);

}  // namespace caisson::rest
