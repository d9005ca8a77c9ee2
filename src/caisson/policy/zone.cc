#include "caisson/policy/zone.h"

#include <absl/time/time.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "caisson/base/utf8.h"

namespace caisson::policy {
namespace {

using std::chrono::milliseconds;
using LocalTime = std::chrono::local_time<milliseconds>;

absl::Time ToAbsl(Time time) { return absl::FromUnixMillis(time.time_since_epoch().count()); }

class ReadZone final : public Zone {
 public:
  ReadZone(std::string name, absl::TimeZone zone) : name_(std::move(name)), zone_(zone) {}

  const std::string& name() const override { return name_; }

  LocalTime Local(Time time) const override {
    return LocalTime{time.time_since_epoch() + std::chrono::seconds{zone_.At(ToAbsl(time)).offset}};
  }

  std::optional<Time> NextTransition(Time time) const override {
    absl::TimeZone::CivilTransition change;
    if (!zone_.NextTransition(ToAbsl(time), &change)) return std::nullopt;
    return Time{milliseconds{absl::ToUnixMillis(zone_.At(change.to).trans)}};
  }

 private:
  std::string name_;
  absl::TimeZone zone_;
};

// What could lead out of the folder of zones, or be a file of another kind, is no name.
bool IsZoneName(std::string_view name) {
  if (name.empty() || name.size() > 64 || name == "localtime") return false;
  bool after_slash = true;
  for (const char c : name) {
    const bool letter =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '+' || c == '-';
    if (!letter && (c != '/' || after_slash)) return false;
    after_slash = c == '/';
  }
  return !after_slash;
}

Error NoSuchZone(std::string_view name) {
  return Error(Code::kInvalidArgument, "there is no time zone " + Quoted(name))
      .Because("it is not in the zone data of this machine")
      .Remedy("use a name of the IANA database, such as \"UTC\" or \"Europe/Berlin\"");
}

class FolderZones final : public ZoneSource {
 public:
  explicit FolderZones(std::string folder) : folder_(std::move(folder)) {}

  Result<std::shared_ptr<const Zone>> Find(std::string_view name) const override {
    if (!IsZoneName(name)) return Fail(NoSuchZone(name));
    if (name == "UTC") return std::make_shared<const ReadZone>("UTC", absl::UTCTimeZone());
    std::error_code error;
    if (!std::filesystem::is_directory(folder_, error)) {
      return Fail(Error(Code::kUnsupported, "the time zone " + Quoted(name) + " cannot be read")
                      .Because("this machine has no zone data: " + folder_ + " is missing")
                      .Remedy("install the package tzdata, or use the time zone \"UTC\""));
    }
    const std::filesystem::path file = std::filesystem::path(folder_) / name;
    absl::TimeZone zone;
    if (!std::filesystem::is_regular_file(file, error) || !absl::LoadTimeZone(std::string(name), &zone)) {
      return Fail(NoSuchZone(name));
    }
    return std::make_shared<const ReadZone>(std::string(name), zone);
  }

 private:
  std::string folder_;
};

}  // namespace

const ZoneSource& SystemZones() {
  static const FolderZones zones("/usr/share/zoneinfo");
  return zones;
}

std::unique_ptr<ZoneSource> ZonesListedIn(std::string folder) {
  return std::make_unique<FolderZones>(std::move(folder));
}

}  // namespace caisson::policy
