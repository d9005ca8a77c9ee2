#include "support/secret.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

namespace caisson::support {
namespace {

std::vector<Secret*>& Living() {
  static std::vector<Secret*> living;
  return living;
}

}  // namespace

Secret::Secret() {
  std::random_device random;
  for (int i = 0; i < 4; ++i) {
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", random());
    text_ += digits;
  }
  Living().push_back(this);
}

Secret::~Secret() { std::erase(Living(), this); }

std::string Secret::Answer() const {
  const std::size_t half = text_.size() / 2;
  return text_.substr(half) + text_.substr(0, half);
}

bool Secret::TakeSeen() { return std::exchange(seen_, false); }

void LookForSecrets(std::string_view output) {
  for (Secret* secret : Living()) {
    if (output.find(secret->text_) != std::string_view::npos) secret->seen_ = true;
  }
}

}  // namespace caisson::support
