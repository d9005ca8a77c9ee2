#include <exception>

#include "caisson/document/read_format.h"
#include "caisson/document/toml_cursor.h"
#include "caisson/document/toml_scalar.h"
#include "caisson/document/toml_tree.h"

namespace caisson::document {
namespace {

bool IsBareKeyCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// The grammar of TOML 1.0. Goes down by recursion no deeper than kMostDepth.
class TomlReader {
 public:
  TomlReader(std::string_view text, std::string_view name) : cursor_(text, name) {}

  Result<Value> Run() {
    while (!cursor_.is_at_end()) {
      cursor_.SkipSpace();
      if (cursor_.Peek() == '[') {
        CAISSON_CHECK_OK(TakeHeader());
      } else if (!IsAtEndOfLine()) {
        CAISSON_CHECK_OK(TakeKeyAndValue(tree_, 1));
      }
      CAISSON_CHECK_OK(TakeEndOfLine());
    }
    return tree_.Take({1, 1});
  }

 private:
  bool IsAtEndOfLine() const { return cursor_.is_at_end() || cursor_.IsAtLineBreak() || cursor_.Peek() == '#'; }

  Status TakeComment() {
    while (!cursor_.is_at_end() && !cursor_.IsAtLineBreak()) {
      if (IsForbiddenControl(cursor_.Peek())) return Fail(cursor_.Mistake("a comment holds no control character"));
      cursor_.Take();
    }
    return {};
  }

  Status TakeEndOfLine() {
    cursor_.SkipSpace();
    if (cursor_.Peek() == '#') CAISSON_CHECK_OK(TakeComment());
    if (cursor_.is_at_end()) return {};
    if (!cursor_.IsAtLineBreak()) return Fail(cursor_.Expected("the end of the line"));
    cursor_.TakeLineBreak();
    return {};
  }

  Status CountValue() {
    if (++values_ <= kMostValues) return {};
    return Fail(cursor_.Mistake("there are more than 1000000 values"));
  }

  Result<std::string> TakeKeyPart() {
    if (cursor_.Peek() == '"' || cursor_.Peek() == '\'') return TakeTomlText(cursor_, Lines::kOne);
    std::string name;
    while (IsBareKeyCharacter(cursor_.Peek())) name += cursor_.Take();
    if (name.empty()) return Fail(cursor_.Expected("a key"));
    return name;
  }

  // With the space after it.
  Result<std::vector<TomlKey>> TakeKey() {
    std::vector<TomlKey> keys;
    do {
      cursor_.SkipSpace();
      const Place place = cursor_.place();
      if (keys.size() == kMostDepth) return Fail(cursor_.Mistake("a key has more than 32 parts"));
      CAISSON_TRY(std::string name, TakeKeyPart());
      keys.push_back({std::move(name), place});
      cursor_.SkipSpace();
    } while (cursor_.TakeIf('.'));
    return keys;
  }

  Status Check(const TomlTree::Mistake& mistake) const {
    if (mistake.what.empty()) return {};
    return Fail(cursor_.MistakeOf(mistake.place, mistake.what));
  }

  Status TakeHeader() {
    const Place header = cursor_.place();
    cursor_.Take();
    const bool is_element = cursor_.TakeIf('[');
    CAISSON_TRY(const std::vector<TomlKey> keys, TakeKey());
    if (!cursor_.TakeIf(']') || (is_element && !cursor_.TakeIf(']'))) {
      return Fail(cursor_.Expected(is_element ? "]]" : "]"));
    }
    CAISSON_CHECK_OK(CountValue());
    return Check(is_element ? tree_.OpenElement(keys, header) : tree_.OpenTable(keys, header));
  }

  // `depth`: of what is around the tree.
  Status TakeKeyAndValue(TomlTree& tree, std::size_t depth) {
    CAISSON_TRY(const std::vector<TomlKey> keys, TakeKey());
    if (!cursor_.TakeIf('=')) return Fail(cursor_.Expected("="));
    CAISSON_CHECK_OK(Check(tree.AddKey(keys)));
    const std::size_t around = depth - 1 + tree.depth();
    if (around > kMostDepth) return Fail(cursor_.MistakeOf(keys.back().place, kTooDeep));
    cursor_.SkipSpace();
    CAISSON_TRY(Value value, TakeValue(around, keys.back().place));
    tree.SetValue(std::move(value));
    return {};
  }

  // `depth`: how many tables and arrays are around it.
  Result<Value> TakeValue(std::size_t depth, const std::optional<Place>& key_place) {
    CAISSON_CHECK_OK(CountValue());
    const Place place = cursor_.place();
    const auto read = [&]() -> Result<Value::Content> {
      const char c = cursor_.Peek();
      if (c != '[' && c != '{') return TakeTomlScalar(cursor_);
      if (depth >= kMostDepth) return Fail(cursor_.Mistake(kTooDeep));
      cursor_.Take();
      return c == '[' ? TakeArray(depth + 1) : TakeInlineTable(depth + 1);
    };
    CAISSON_TRY(Value::Content content, read());
    return Value(std::move(content), place, key_place.value_or(place));
  }

  // Between the values of an array lines may end.
  Status SkipLines() {
    for (;;) {
      cursor_.SkipSpace();
      if (cursor_.is_at_end() || !IsAtEndOfLine()) return {};
      CAISSON_CHECK_OK(TakeEndOfLine());
    }
  }

  Result<Value::Content> TakeArray(std::size_t depth) {
    Array elements;
    for (;;) {
      CAISSON_CHECK_OK(SkipLines());
      if (cursor_.TakeIf(']')) return Value::Content(std::move(elements));
      CAISSON_TRY(Value element, TakeValue(depth, std::nullopt));
      elements.push_back(std::move(element));
      CAISSON_CHECK_OK(SkipLines());
      if (cursor_.TakeIf(',')) continue;
      if (!cursor_.TakeIf(']')) return Fail(cursor_.Expected(", or ]"));
      return Value::Content(std::move(elements));
    }
  }

  Result<Value::Content> TakeInlineTable(std::size_t depth) {
    TomlTree tree;
    cursor_.SkipSpace();
    if (!cursor_.TakeIf('}')) {
      do {
        CAISSON_CHECK_OK(TakeKeyAndValue(tree, depth));
        cursor_.SkipSpace();
      } while (cursor_.TakeIf(','));
      if (!cursor_.TakeIf('}')) return Fail(cursor_.Expected(", or }"));
    }
    const Value table = tree.Take({});
    return table.content();
  }

  TomlCursor cursor_;
  TomlTree tree_;
  std::size_t values_ = 0;
};

}  // namespace

Result<Value> ReadToml(std::string_view text, std::string_view name) try {
  return TomlReader(text, name).Run();
} catch (const std::exception& failure) {
  return Fail(MistakeAt(name, {1, 1}, failure.what()));
}

}  // namespace caisson::document
