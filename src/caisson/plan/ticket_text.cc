#include "caisson/plan/ticket_text.h"

#include <charconv>

namespace caisson::plan {

Result<Ticket> ParseTicket(std::string_view text) {
  Ticket ticket;
  bool is_fine = text.size() == 2 * sizeof ticket.bytes;
  for (std::size_t i = 0; is_fine && i < sizeof ticket.bytes; ++i) {
    const char* const digits = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(digits, digits + 2, ticket.bytes[i], 16);
    is_fine = error == std::errc() && end == digits + 2;
  }
  if (is_fine && FormatTicket(ticket) == text) return ticket;
  return Fail(Error(Code::kInvalidArgument, "a ticket is 32 hexadecimal digits"));
}

std::string FormatTicket(const Ticket& ticket) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : ticket.bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

}  // namespace caisson::plan
