#include "caisson/record/body.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cmath>
#include <string_view>

#include "caisson/base/base64.h"
#include "caisson/base/utf8.h"
#include "caisson/record/hash.h"
#include "caisson/record/key_shapes.h"
#include "caisson/record/limits.h"
#include "caisson/record/quoted_json.h"

namespace caisson::record {
namespace {

namespace json = boost::json;

// Names of members, each once.
class Names {
 public:
  void Add(std::string_view name) {
    if (!Has(name)) names_.push_back(name);
  }
  bool Has(std::string_view name) const { return std::find(names_.begin(), names_.end(), name) != names_.end(); }
  void AppendTo(std::string& out) const {
    out += '[';
    for (const std::string_view name : names_) {
      if (out.back() != '[') out += ',';
      AppendQuoted(out, name, kMostName);
    }
    out += ']';
  }

 private:
  std::vector<std::string_view> names_;
};

class Writer {
 public:
  explicit Writer(const Redactor& redactor) : redactor_(redactor) {}

  void Key(std::string_view key) {
    key_ = key;
    out_ += ",\"";
    out_ += key;
    out_ += "\":";
  }
  void Raw(std::string_view text) { out_ += text; }
  void Null(std::string_view key) {
    Key(key);
    Raw("null");
  }

  // Appends a text as JSON string: its secrets first, then its bound.
  void Quote(std::string_view text, std::size_t most, Ending ending = Ending::kWhole) {
    std::string_view window = text.substr(0, kWindowFactor * most);
    if (window.size() < text.size()) ending = Ending::kCut;
    if (ending == Ending::kCut) window = window.substr(0, WholeUtf8Length(window));
    const std::string hidden = Hidden(window, ending);
    if (!IsAscii(hidden) && !IsUtf8(hidden)) replaced_.Add(key_);
    if (AppendQuoted(out_, hidden, most) == Kept::kCut || ending == Ending::kCut) truncated_.Add(key_);
  }
  void Text(std::string_view key, const std::optional<std::string>& text, std::size_t most) {
    if (!text) return Null(key);
    Key(key);
    Quote(*text, most);
  }
  // The member that is being written is not whole.
  void MarkCut() { truncated_.Add(key_); }
  // One of our own words, or null.
  void Word(std::string_view key, const char* word) {
    Key(key);
    Raw(word == nullptr ? "null" : "\"" + std::string(word) + "\"");
  }
  void Number(std::string_view key, const std::optional<std::int64_t>& number) {
    Key(key);
    Raw(number ? std::to_string(*number) : "null");
  }

  void Json(std::string_view key, const std::optional<std::string>& text, std::size_t most);
  void Streams(const std::optional<Stream>& output, const std::optional<Stream>& errors);
  void Files(const std::optional<std::vector<ChangedFile>>& files);
  void WhatWasDone();

  std::string Take() { return std::move(out_); }

 private:
  std::string Hidden(std::string_view text, Ending ending) {
    std::string hidden = redactor_.Hide(text, ending);
    if (hidden != text) redacted_.Add(key_);
    return hidden;
  }
  void Value(const json::value& value, std::size_t longest, std::size_t most);
  void Member(const json::key_value_pair& member, std::size_t longest, std::size_t most);
  bool FileFits(const ChangedFile& file, std::size_t most);

  const Redactor& redactor_;
  std::string out_;
  std::string_view key_;
  Names truncated_;
  Names redacted_;
  Names replaced_;
};

void Writer::Member(const json::key_value_pair& member, std::size_t longest, std::size_t most) {
  Quote(member.key(), longest);
  Raw(":");
  if (IsSecretName(member.key()) && member.value().is_string() && !member.value().get_string().empty()) {
    redacted_.Add(key_);
    return Raw("\"[redacted]\"");
  }
  Value(member.value(), longest, most);
}

// Strings are cut at `longest`. Stops when there is more than `most`: then nothing of it is used.
void Writer::Value(const json::value& value, std::size_t longest, std::size_t most) {
  if (out_.size() > most) return;
  if (const json::object* object = value.if_object()) {
    Raw("{");
    for (const json::key_value_pair& member : *object) {
      if (out_.back() != '{') Raw(",");
      Member(member, longest, most);
      if (out_.size() > most) return;
    }
    Raw("}");
  } else if (const json::array* array = value.if_array()) {
    Raw("[");
    for (const json::value& element : *array) {
      if (out_.back() != '[') Raw(",");
      Value(element, longest, most);
      if (out_.size() > most) return;
    }
    Raw("]");
  } else if (const json::string* text = value.if_string()) {
    Quote(*text, longest);
  } else {
    const std::string written = json::serialize(value);
    const double* number = value.if_double();
    const bool is_json = number == nullptr || std::isfinite(*number);  // 1e999 is read as infinite
    // A value of digits may stand there as a number.
    if (is_json && redactor_.Hide(written, Ending::kWhole) == written) return Raw(written);
    Quote(written, longest);
  }
}

// A JSON text as the value it is, its strings cut as far as its bound wants; what is too long even so, or no JSON, as a
// text.
void Writer::Json(std::string_view key, const std::optional<std::string>& text, std::size_t most) {
  if (!text) return Null(key);
  Key(key);
  boost::system::error_code failed;
  if (text->size() > kLongestParsedArgs) return Quote(*text, most);
  json::monotonic_resource memory;
  const json::value value = json::parse(*text, failed, &memory);
  if (failed) return Quote(*text, most);
  const std::size_t begin = out_.size();
  const Names before = truncated_;
  for (const std::size_t longest : {most / 2, most / 8, most / 64}) {
    Value(value, longest, begin + most);
    if (out_.size() <= begin + most) return;
    out_.resize(begin);
    truncated_ = before;
  }
  Quote(json::serialize(value), most);
}

void Writer::Streams(const std::optional<Stream>& output, const std::optional<Stream>& errors) {
  struct Side {
    const std::optional<Stream>& stream;
    std::string_view name, size, digest;
    bool is_hidden = false;
  };
  std::array<Side, 2> sides = {
      {{output, "stdout", "stdout_bytes", "stdout_sha256"}, {errors, "stderr", "stderr_bytes", "stderr_sha256"}}};
  for (Side& side : sides) {
    if (!side.stream) {
      Null(side.name);
      continue;
    }
    Key(side.name);
    const bool is_cut = side.stream->size.value > side.stream->text.size();
    Quote(side.stream->text, kMostStream, is_cut ? Ending::kCut : Ending::kWhole);
    side.is_hidden = redacted_.Has(side.name);
  }
  for (const Side& side : sides) {
    Key(side.size);
    Raw(side.stream ? std::to_string(side.stream->size.value) : "null");
  }
  for (const Side& side : sides) {
    if (!side.stream || !side.stream->sha256 || side.is_hidden) {
      Null(side.digest);
      continue;
    }
    Key(side.digest);
    Raw("\"" + HexOf(*side.stream->sha256) + "\"");
  }
}

// Appends one file, unless it would go beyond `most`.
bool Writer::FileFits(const ChangedFile& file, std::size_t most) {
  const std::size_t begin = out_.size();
  Raw(out_.back() == '[' ? "{\"path\":" : ",{\"path\":");
  const std::string path = Hidden(file.path, Ending::kWhole);
  const bool is_text = IsUtf8(path);
  constexpr std::size_t kMostEncoded = kMostPath / 4 * 3;
  const Kept kept = AppendQuoted(out_, is_text ? path : Base64(path.substr(0, kMostEncoded)), kMostPath);
  if (kept == Kept::kCut || (!is_text && path.size() > kMostEncoded)) truncated_.Add(key_);
  if (!is_text) Raw(",\"encoding\":\"base64\"");
  Raw(",\"change\":");
  Quote(file.change, kMostName);
  Raw(",\"type\":");
  Quote(file.type, kMostName);
  Raw(",\"size_bytes\":" + (file.size ? std::to_string(file.size->value) : "null") + "}");
  if (out_.size() <= most) return true;
  out_.resize(begin);
  return false;
}

void Writer::Files(const std::optional<std::vector<ChangedFile>>& files) {
  if (!files) return Null("files_changed");
  Key("files_changed");
  Raw("[");
  const std::size_t most = out_.size() + kMostPathBytes;
  std::size_t count = 0;
  while (count < files->size() && count < kMostFiles && FileFits((*files)[count], most)) ++count;
  if (count < files->size()) truncated_.Add(key_);
  Raw("]");
}

void Writer::WhatWasDone() {
  const auto append = [this](std::string_view key, const Names& names) {
    Key(key);
    names.AppendTo(out_);
  };
  append("truncated", truncated_);
  append("redacted", redacted_);
  append("replaced", replaced_);
}

void WriteDecision(Writer& writer, const std::optional<Decision>& decision) {
  if (!decision) return writer.Null("decision");
  writer.Key("decision");
  const auto text = [&writer](std::string_view before, const std::optional<std::string>& value, std::size_t most) {
    writer.Raw(before);
    if (!value) return writer.Raw("null");
    writer.Quote(*value, most);
  };
  text("{\"effect\":", decision->effect, kMostName);
  text(",\"rule\":", decision->rule, kMostName);
  text(",\"source\":", decision->source, kMostName);
  text(",\"reason\":", decision->reason, kMostReason);
  writer.Raw("}");
}

void WriteHints(Writer& writer, const std::vector<std::string>& hints) {
  writer.Key("hints");
  writer.Raw("[");
  const std::size_t count = std::min(hints.size(), kMostHints);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) writer.Raw(",");
    writer.Quote(hints[i], kMostName);
  }
  if (count < hints.size()) writer.MarkCut();
  writer.Raw("]");
}

std::string Milliseconds(std::chrono::nanoseconds duration) {
  const std::int64_t micros = std::max<std::int64_t>(0, duration.count() / 1000);
  std::string fraction = std::to_string(1000 + micros % 1000).substr(1);
  fraction.resize(fraction.find_last_not_of('0') + 1);
  return std::to_string(micros / 1000) + (fraction.empty() ? "" : "." + fraction);
}

}  // namespace

const char* KindName(Kind kind) {
  switch (kind) {
    case Kind::kStep:
      return "step";
    case Kind::kLifecycle:
      return "lifecycle";
    case Kind::kApproval:
      return "approval";
    case Kind::kPolicy:
      return "policy";
    case Kind::kWarning:
      return "warning";
    case Kind::kStop:
      return "stop";
    case Kind::kGap:
      return "gap";
  }
  return "gap";
}

const char* FaceName(Face face) {
  switch (face) {
    case Face::kCli:
      return "cli";
    case Face::kRest:
      return "rest";
    case Face::kE2b:
      return "e2b";
    case Face::kMcp:
      return "mcp";
    case Face::kAgent:
      return "agent";
    case Face::kNode:
      return "node";
  }
  return "node";
}

std::string BodyOf(const Entry& entry, const Redactor& redactor) {
  Writer writer(redactor);
  writer.Text("tenant", entry.tenant, kMostName);
  writer.Text("caller", entry.caller, kMostName);
  writer.Word("face", entry.face ? FaceName(*entry.face) : nullptr);
  writer.Word("kind", KindName(entry.kind));
  writer.Text("tool", entry.tool, kMostName);
  writer.Json("args", entry.args, kMostArgs);
  WriteDecision(writer, entry.decision);
  writer.Text("outcome", entry.outcome, kMostName);
  writer.Number("exit_code", entry.exit_code);
  writer.Key("duration_ms");
  writer.Raw(entry.duration ? Milliseconds(*entry.duration) : "null");
  writer.Streams(entry.standard_output, entry.standard_error);
  writer.Files(entry.files_changed);
  WriteHints(writer, entry.hints);
  writer.Text("checkpoint", entry.checkpoint, kMostName);
  writer.Json("detail", entry.detail, kMostDetail);
  writer.WhatWasDone();
  return writer.Take();
}

}  // namespace caisson::record
