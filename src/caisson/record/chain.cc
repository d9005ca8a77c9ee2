#include "caisson/record/chain.h"

#include "caisson/record/hash.h"
#include "caisson/record/time_text.h"

namespace caisson::record {

Head FirstHead(const SandboxId& sandbox) { return {.seq = 0, .hash = Sha256Of("caisson audit 1\n" + sandbox.text())}; }

Sha256 HashOf(const Sha256& prev, std::string_view covered) {
  Sha256Sum sum;
  sum.Add(HexOf(prev));
  sum.Add(covered);
  return sum.Finish();
}

ChainedLine MakeLine(const SandboxId& sandbox, const Head& head, Time time, std::string_view body) {
  ChainedLine line;
  line.head.seq = head.seq + 1;
  line.text.reserve(body.size() + 400);
  line.text = "{\"ts\":\"" + TimeText(time) + "\",\"seq\":" + std::to_string(line.head.seq) + ",\"sandbox\":\"" +
              sandbox.text() + "\"";
  line.text += body;
  line.text += ",\"prev\":\"" + HexOf(head.hash) + "\"}";
  line.head.hash = HashOf(head.hash, line.text);
  line.text.back() = ',';
  line.text += "\"hash\":\"" + HexOf(line.head.hash) + "\"}\n";
  return line;
}

}  // namespace caisson::record
