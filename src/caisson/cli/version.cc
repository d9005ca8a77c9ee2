#include "caisson/cli/version.h"

#include <boost/json.hpp>

#include "caisson/cli/commands.h"
#include "caisson/os/probe.h"
#include "caisson/wire/json_text.h"

// The build defines these for this file alone.
#ifndef CAISSON_VERSION
#define CAISSON_VERSION "0.1.0"
#endif
#ifndef CAISSON_COMMIT
#define CAISSON_COMMIT "unknown"
#endif
#ifndef CAISSON_BUILD_TYPE
#define CAISSON_BUILD_TYPE "unknown"
#endif

namespace caisson::cli {
namespace {

#ifdef __clang__
constexpr const char* kCompiler = __VERSION__;  // begins with "Clang"
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

std::vector<std::string> KernelFeatures() {
  std::vector<std::string> names;
  for (const os::Primitive& primitive : os::ProbeHost()) {
    // What the caller is says nothing about the kernel.
    if (primitive.finding == os::Finding::kOk && primitive.name != "root") names.push_back(primitive.name);
  }
  return names;
}

std::string VersionText(const std::vector<std::string>& features) {
  std::string text = std::string("caisson ") + CAISSON_VERSION + "\n";
  text += std::string("build:    ") + CAISSON_BUILD_TYPE + ", " + kCompiler + ", commit " + CAISSON_COMMIT + "\n";
  text += "kernel:   " + os::KernelRelease() + "\n";
  text += "features:";
  for (const std::string& feature : features) text += " " + feature;
  return text + "\n";
}

std::string VersionJson(const std::vector<std::string>& features) {
  boost::json::object object;
  object["version"] = CAISSON_VERSION;
  object["build_type"] = CAISSON_BUILD_TYPE;
  object["compiler"] = kCompiler;
  object["commit"] = CAISSON_COMMIT;
  object["kernel"] = os::KernelRelease();
  object["features"] = boost::json::array(features.begin(), features.end());
  return wire::JsonLine(object);
}

}  // namespace

const char* Version() { return CAISSON_VERSION; }

int VersionCommand(const CommandLine& line) {
  const std::vector<std::string> features = KernelFeatures();
  return PrintOrFail(line.Has(Option::kJson) ? VersionJson(features) : VersionText(features), kSuccess, kFailed);
}

}  // namespace caisson::cli
