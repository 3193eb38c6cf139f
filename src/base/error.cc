// See error.h.
#include "base/error.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace lanyard {

ErrorRecord Error::take() {
    if (!record_) return {0, {}};
    ErrorRecord record = std::move(*record_);
    discard();
    return record;
}

void Error::discard() {
    delete record_;
    record_ = nullptr;
}

std::string system_text(int error_number) {
    char text[128];
    return strerror_r(error_number, text, sizeof text);
}

void broken_invariant(const char *what, const char *file, int line) {
    std::fprintf(stderr,
                 "lanyard: internal error, stopping before data is harmed: '%s' does not hold at %s:%d; "
                 "please report this line\n",
                 what, file, line);
    std::abort();
}

}  // namespace lanyard
