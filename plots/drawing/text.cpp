#include "plots/drawing/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "common/text.hpp"

namespace ringside::plots {
namespace {

// Advance widths of DejaVu Sans 2.37 in 1/1000 em, for the characters ' ' to '~' (its `hmtx` table).
constexpr std::array<short, 95> kRegular = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};
constexpr std::array<short, 95> kBold = {
    348, 456,  521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415,  380, 365, 696, 696,  696,
    696, 696,  696, 696, 696, 696,  696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830,  683,
    683, 821,  837, 372, 372, 775,  637, 995, 837, 850, 733, 850, 770, 720,  682, 812, 774, 1103, 771,
    724, 725,  457, 365, 457, 838,  500, 500, 675, 716, 593, 716, 678, 435,  716, 712, 343, 343,  665,
    343, 1042, 712, 687, 716, 716,  493, 595, 478, 712, 652, 924, 645, 652,  582, 712, 365, 712,  838};
// Any other character is taken to be as wide as a wide one: too much room is better than too little.
constexpr double kOtherWidth = 1.0;

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    result.push_back(text.substr(0, std::max<std::size_t>(1, character_length(text))));
    text.remove_prefix(result.back().size());
  }
  return result;
}

double character_width(std::string_view character, const Font& font) {
  const char first = character.front();
  if (first < ' ' || first > '~') {
    return kOtherWidth * font.size;
  }
  const auto& widths = font.bold ? kBold : kRegular;
  return widths[static_cast<std::size_t>(first - ' ')] * font.size / 1000;
}

}  // namespace

double text_width(std::string_view text, const Font& font) {
  double width = 0;
  for (const std::string_view character : characters(text)) {
    width += character_width(character, font);
  }
  return width;
}

std::string shortened(std::string_view text, const Font& font, double max_width) {
  if (text_width(text, font) <= max_width) {
    return std::string(text);
  }
  constexpr std::string_view kEllipsis = "…";
  const std::vector<std::string_view> all = characters(text);
  double room = max_width - text_width(kEllipsis, font);
  std::string head;
  std::string tail;
  // From both ends in turn: file names differ at the end, sentences at the beginning.
  for (std::size_t front = 0, back = all.size(); front < back;) {
    const bool at_front = head.size() <= tail.size();
    const std::string_view next = at_front ? all[front] : all[back - 1];
    room -= character_width(next, font);
    if (room < 0) {
      break;
    }
    if (at_front) {
      head += next;
      ++front;
    } else {
      tail.insert(0, next);
      --back;
    }
  }
  return head + std::string(kEllipsis) + tail;
}

std::string first_that_fits(std::initializer_list<std::string> texts, const Font& font, double room) {
  const auto* const fitting =
      std::ranges::find_if(texts, [&](const std::string& text) { return text_width(text, font) <= room; });
  return fitting == texts.end() ? std::string() : *fitting;
}

}  // namespace ringside::plots
