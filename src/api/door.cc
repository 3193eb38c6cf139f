// Stores which ABI front end the process uses. See door.h.
#include "api/door.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "base/thrown.h"
#include "runtime/runtime.h"

namespace lanyard {

namespace {

std::atomic<const Door *> door_in_use{nullptr};

[[noreturn]] void stop_for_second_door(const Door &first, const Door &second) {
    std::string text = std::string("Lanyard: this process uses MPI through ") + first.library +
                       " and now initialises it again through " + second.library +
                       ": parts of the program were built for different MPI ABIs, whose handles do not mix; "
                       "build all for one";
    Runtime *made = runtime();
    if (made && made->bootstrap) made->bootstrap->abort(1, text, false);
    else std::fprintf(stderr, "%s\n", text.c_str());
    std::fflush(nullptr);
    _exit(1);
}

}  // namespace

bool keeps_to_standard() {
    const Door *door = door_in_use.load(std::memory_order_relaxed);
    return door && door->of_the_standard && runtime() && runtime()->settings.check;
}

}  // namespace lanyard

extern "C" void lanyard_use_door(const lanyard::Door &door) {
    lanyard::ready_unwinder();
    const lanyard::Door *first = nullptr;
    if (!lanyard::door_in_use.compare_exchange_strong(first, &door) && first != &door)
        lanyard::stop_for_second_door(*first, door);
}
