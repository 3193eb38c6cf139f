// See fuzz.h.
#include "fuzz/fuzz.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace lanyard::fuzz {

void must(bool holds, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "this does not hold: %s\n", what);
    std::abort();
}

void must_be_sentence(std::string_view text) {
    must(!text.empty(), "there is a sentence");
    must(std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= ' ' && c != 127; }),
         "a sentence can be printed in one line");
}

}  // namespace lanyard::fuzz
