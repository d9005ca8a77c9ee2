#pragma once

#include <string_view>
#include <vector>

#include "caisson/record/secret_set.h"

namespace caisson::record {

// Appends the parts of a text that look like keys whoever they belong to: of AWS, GitHub, GitLab, OpenAI, Anthropic,
// Slack, Google and Stripe, JSON web tokens, private keys in PEM, values of Authorization headers and of names such as
// `password` and `api_key`, passwords in URLs. In order and apart from each other. Time is linear in the text.
// Of a text cut off behind, what may be the beginning of one is one.
void FindKeyShapes(std::string_view text, Ending ending, std::vector<Span>& found);

// True for a name whose value is secret: "password", "DB_PASSWORD", "x-api-key"; not "tokens", "PWD".
bool IsSecretName(std::string_view name);

}  // namespace caisson::record
