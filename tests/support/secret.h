#pragma once

#include <string>
#include <string_view>

namespace caisson::support {

// A text that none but its owner may learn: 32 random hexadecimal digits. While it lives, LookForSecrets notices it.
// For one thread at a time.
class Secret {
 public:
  Secret();
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret();

  const std::string& text() const { return text_; }
  // What an owner answers when asked for it: its second half, then its first, which is not the secret.
  std::string Answer() const;
  // Whether an output held it since the last call.
  bool TakeSeen();

 private:
  friend void LookForSecrets(std::string_view output);

  std::string text_;
  bool seen_ = false;
};

// To be told of everything that a test captured of a program.
void LookForSecrets(std::string_view output);

}  // namespace caisson::support
