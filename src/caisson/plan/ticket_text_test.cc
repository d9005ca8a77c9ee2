#include "caisson/plan/ticket_text.h"

#include <gtest/gtest.h>

namespace caisson::plan {
namespace {

Ticket Counting() {
  Ticket ticket;
  for (std::size_t i = 0; i < sizeof ticket.bytes; ++i) ticket.bytes[i] = static_cast<std::uint8_t>(i * 17);
  return ticket;
}

TEST(Ticket, IsHexadecimalDigits) {
  EXPECT_EQ(FormatTicket({}), "00000000000000000000000000000000");
  EXPECT_EQ(FormatTicket(Counting()), "00112233445566778899aabbccddeeff");
}

TEST(Ticket, ComesBack) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    Ticket ticket = Counting();
    ticket.bytes[byte % sizeof ticket.bytes] = static_cast<std::uint8_t>(byte);
    const auto read = ParseTicket(FormatTicket(ticket));
    ASSERT_TRUE(read) << byte;
    EXPECT_EQ(*read, ticket) << byte;
  }
}

TEST(Ticket, HasOneForm) {
  const std::string good = FormatTicket(Counting());
  std::vector<std::string> bad = {"",
                                  good.substr(1),
                                  good + "0",
                                  good + "00",
                                  " " + good.substr(1),
                                  "0x" + good.substr(2),
                                  "+1" + good.substr(2),
                                  "-1" + good.substr(2)};
  for (const char other : {'A', 'g', ' ', '-', '\0', '\xff'}) {
    for (std::size_t at = 0; at < good.size(); ++at) {
      bad.push_back(good);
      bad.back()[at] = other;
    }
  }
  for (const std::string& text : bad) {
    const auto read = ParseTicket(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code(), Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace caisson::plan
