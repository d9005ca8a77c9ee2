#include "caisson/record/secret_set.h"

#include <algorithm>

namespace caisson::record {

SecretSet::SecretSet() : nodes_(1) { from_root_.fill(0); }

std::uint32_t SecretSet::EdgeOf(std::uint32_t node, unsigned char byte) const {
  for (const auto& [edge, to] : nodes_[node].next) {
    if (edge == byte) return to;
  }
  return kNone;
}

void SecretSet::Add(std::string_view pattern, std::size_t secret) {
  if (pattern.size() < kShortest) return;
  std::uint32_t node = 0;
  for (const char c : pattern) {
    const auto byte = static_cast<unsigned char>(c);
    std::uint32_t to = EdgeOf(node, byte);
    if (to == kNone) {
      to = static_cast<std::uint32_t>(nodes_.size());
      Node made;
      made.depth = nodes_[node].depth + 1;
      nodes_.push_back(std::move(made));
      nodes_[node].next.emplace_back(byte, to);
    }
    node = to;
  }
  if (nodes_[node].longest != 0) return;  // the first with this text has it
  nodes_[node].longest = nodes_[node].depth;
  nodes_[node].secret = secret;
}

void SecretSet::Finish() {
  std::vector<std::uint32_t> order;  // by depth, so that a node's fallback is complete before the node
  for (const auto& [byte, to] : nodes_[0].next) {
    from_root_[byte] = to;
    order.push_back(to);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t node = order[i];
    for (const auto& [byte, to] : nodes_[node].next) {
      nodes_[to].fallback = Step(nodes_[node].fallback, byte);
      order.push_back(to);
    }
    const Node& fallback = nodes_[nodes_[node].fallback];
    if (nodes_[node].longest != 0) continue;
    nodes_[node].longest = fallback.longest;
    nodes_[node].secret = fallback.secret;
  }
}

std::uint32_t SecretSet::Step(std::uint32_t node, unsigned char byte) const {
  while (node != 0) {
    const std::uint32_t to = EdgeOf(node, byte);
    if (to != kNone) return to;
    node = nodes_[node].fallback;
  }
  return from_root_[byte];
}

void SecretSet::Find(std::string_view text, Ending ending, std::vector<Span>& found) const {
  if (empty()) return;
  std::uint32_t node = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node = node == 0 ? from_root_[byte] : Step(node, byte);
    if (node == 0) continue;
    const Node& here = nodes_[node];
    if (here.longest != 0) found.push_back({.begin = i + 1 - here.longest, .end = i + 1, .secret = here.secret});
  }
  const std::size_t begun = nodes_[node].depth;
  if (ending == Ending::kCut && begun >= kShortest) {
    found.push_back({.begin = text.size() - begun, .end = text.size(), .secret = kNoSecret});
  }
}

}  // namespace caisson::record
