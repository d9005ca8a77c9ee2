#include "caisson/shell/shell.h"

#include "caisson/shell/bytes.h"
#include "caisson/shell/commands.h"
#include "caisson/shell/scan.h"

namespace caisson::shell {

Analysis Analyze(std::string_view text) {
  Analysis refused;
  if (text.size() > kMostText) {
    refused.unknown = Unknown{.what = "more text than is looked at", .offset = kMostText};
    return refused;
  }
  refused.unknown = CheckBytes(text);
  if (refused.unknown) return refused;

  Findings findings(text);
  Scan scan(text, findings);
  ReadList(scan, ListPlace::kWholeText);
  if (!scan.AtEnd()) scan.Fail("a token that does not belong here");
  if (!scan.pending.empty()) scan.Fail("a here-document without its body");
  return findings.Take();
}

}  // namespace caisson::shell
