#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "caisson/record/secret_set.h"

namespace caisson::record {

// A value that must not be read anywhere. `name` is shown in its place.
struct Secret {
  std::string name;
  std::string value;
};

// Takes secrets out of texts: the given values of 4 bytes and more, also where they are in base64, percent-encoded,
// escaped as in JSON or broken over lines, and what looks like a key (key_shapes.h). Encodings of encodings are not
// looked through. Immutable, so safe for concurrent use. Takes some hundred bytes of memory for each byte of a value.
class Redactor {
 public:
  // Knows shapes alone.
  Redactor() : Redactor(std::vector<Secret>()) {}
  explicit Redactor(const std::vector<Secret>& secrets);

  // `text` with `[redacted:NAME]` in place of each value, and `[redacted]` in place of what has no name that can be
  // shown. Of a text that was cut, a value's beginning at its end is hidden too. Time is n log n at most, whatever the
  // text.
  std::string Hide(std::string_view text, Ending ending) const;

 private:
  void FindEncoded(std::string_view text, Ending ending, std::vector<Span>& found) const;

  SecretSet set_;
  std::vector<std::string> shown_;  // what stands in place of each secret
};

}  // namespace caisson::record
