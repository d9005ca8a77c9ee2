#include "caisson/document/toml_tree.h"

#include "caisson/base/utf8.h"

namespace caisson::document {
namespace {

std::string IsThere(const TomlKey& key) { return Quoted(key.name) + " is there already"; }

}  // namespace

TomlTree::Node* TomlTree::Node::Find(std::string_view name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

TomlTree::Node* TomlTree::Add(Node& parent, const TomlKey& key, Node::Kind kind, const Place& place) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->place = place;
  node->key_place = key.place;
  node->depth = parent.depth + 1;
  Node* added = node.get();
  parent.members.emplace_back(key.name, std::move(node));
  parent.by_name.emplace(key.name, added);
  return added;
}

TomlTree::Mistake TomlTree::TooDeep(const Place& place) { return {kTooDeep, place}; }

TomlTree::Mistake TomlTree::DescendByHeader(const std::vector<TomlKey>& keys, const Place& header, Node*& parent) {
  parent = root_.get();
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
    Node* next = parent->Find(keys[i].name);
    if (next == nullptr) next = Add(*parent, keys[i], Node::Kind::kImplicit, header);
    if (next->kind == Node::Kind::kElements) next = next->elements.back().get();
    if (!next->is_table()) return {Quoted(keys[i].name) + " is a value; nothing can be added to it", keys[i].place};
    if (next->depth > kMostDepth) return TooDeep(keys[i].place);
    parent = next;
  }
  return {};
}

TomlTree::Mistake TomlTree::OpenTable(const std::vector<TomlKey>& keys, const Place& header) {
  Node* parent = nullptr;
  if (Mistake mistake = DescendByHeader(keys, header, parent); !mistake.what.empty()) return mistake;
  const TomlKey& last = keys.back();
  Node* table = parent->Find(last.name);
  if (table == nullptr) {
    table = Add(*parent, last, Node::Kind::kHeader, header);
  } else if (table->kind == Node::Kind::kImplicit) {
    table->kind = Node::Kind::kHeader;
    table->place = header;
    table->key_place = last.place;
  } else {
    return {IsThere(last), last.place};
  }
  if (table->depth > kMostDepth) return TooDeep(last.place);
  current_ = table;
  return {};
}

TomlTree::Node* TomlTree::AddElement(Node& elements, const Place& header) {
  auto element = std::make_unique<Node>();
  element->kind = Node::Kind::kHeader;
  element->place = header;
  element->key_place = header;
  element->depth = elements.depth + 1;
  elements.elements.push_back(std::move(element));
  return elements.elements.back().get();
}

TomlTree::Mistake TomlTree::OpenElement(const std::vector<TomlKey>& keys, const Place& header) {
  Node* parent = nullptr;
  if (Mistake mistake = DescendByHeader(keys, header, parent); !mistake.what.empty()) return mistake;
  const TomlKey& last = keys.back();
  Node* elements = parent->Find(last.name);
  if (elements == nullptr) elements = Add(*parent, last, Node::Kind::kElements, header);
  if (elements->kind != Node::Kind::kElements) return {IsThere(last), last.place};
  current_ = AddElement(*elements, header);
  if (current_->depth > kMostDepth) return TooDeep(last.place);
  return {};
}

TomlTree::Mistake TomlTree::AddKey(const std::vector<TomlKey>& keys) {
  Node* table = current_;
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
    Node* next = table->Find(keys[i].name);
    if (next == nullptr) next = Add(*table, keys[i], Node::Kind::kDotted, keys[i].place);
    if (next->kind != Node::Kind::kDotted) return {IsThere(keys[i]) + ", complete", keys[i].place};
    if (next->depth > kMostDepth) return TooDeep(keys[i].place);
    table = next;
  }
  if (table->Find(keys.back().name) != nullptr) return {IsThere(keys.back()), keys.back().place};
  slot_table_ = table;
  slot_ = Add(*table, keys.back(), Node::Kind::kValue, keys.back().place);
  return {};
}

void TomlTree::SetValue(Value value) { slot_->value = std::make_unique<Value>(std::move(value)); }

Value TomlTree::Convert(Node& node) {
  if (node.value) return std::move(*node.value);
  if (node.kind == Node::Kind::kElements) {
    Array elements;
    elements.reserve(node.elements.size());
    for (const auto& element : node.elements) elements.push_back(Convert(*element));
    return {std::move(elements), node.place, node.key_place};
  }
  Table members;
  members.reserve(node.members.size());
  for (auto& [name, member] : node.members) members.emplace_back(std::move(name), Convert(*member));
  return {std::move(members), node.place, node.key_place};
}

Value TomlTree::Take(const Place& place) {
  root_->place = place;
  root_->key_place = place;
  return Convert(*root_);
}

}  // namespace caisson::document
