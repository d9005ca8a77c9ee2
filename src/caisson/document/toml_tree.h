#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caisson/document/document.h"

namespace caisson::document {

// A part of a dotted key, and where it stands.
struct TomlKey {
  std::string name;
  Place place;
};

inline constexpr const char* kTooDeep = "more than 32 tables and arrays are inside each other";

// The tables of a TOML file while they may still grow. TOML says which may: a header may name a table once, and one
// that only stood in other headers still; dotted keys add to what dotted keys made; a value in braces or brackets is
// complete.
class TomlTree {
 public:
  TomlTree() : root_(std::make_unique<Node>()), current_(root_.get()) {}

  // "[a.b]" or "[[a.b]]": from here on values are added to that table.
  struct Mistake {
    std::string what;  // empty: none
    Place place;
  };
  Mistake OpenTable(const std::vector<TomlKey>& keys, const Place& header);
  Mistake OpenElement(const std::vector<TomlKey>& keys, const Place& header);

  // "a.b = value" in the table that is open. First the place for it: refused before the value is read.
  Mistake AddKey(const std::vector<TomlKey>& keys);
  void SetValue(Value value);

  // How many tables and arrays are around the value of the last AddKey.
  std::size_t depth() const { return slot_table_->depth; }

  // The whole.
  Value Take(const Place& place);

 private:
  struct Node {
    enum class Kind : std::uint8_t { kImplicit, kHeader, kDotted, kElements, kValue } kind = Kind::kHeader;
    Place place;
    Place key_place;
    std::size_t depth = 1;
    std::vector<std::pair<std::string, std::unique_ptr<Node>>> members;  // of a table, in the file's order
    std::map<std::string, Node*, std::less<>> by_name;
    std::vector<std::unique_ptr<Node>> elements;  // of an array of tables
    std::unique_ptr<Value> value;

    Node* Find(std::string_view name) const;
    bool is_table() const { return kind != Kind::kElements && kind != Kind::kValue; }
  };

  static Node* Add(Node& parent, const TomlKey& key, Node::Kind kind, const Place& place);
  static Mistake TooDeep(const Place& place);
  // The table that a header's keys but the last lead to.
  Mistake DescendByHeader(const std::vector<TomlKey>& keys, const Place& header, Node*& parent);
  static Node* AddElement(Node& elements, const Place& header);
  static Value Convert(Node& node);

  std::unique_ptr<Node> root_;
  Node* current_;
  Node* slot_table_ = nullptr;
  Node* slot_ = nullptr;
};

}  // namespace caisson::document
