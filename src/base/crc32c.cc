#include "base/crc32c.h"

#include <dlfcn.h>

namespace lanyard {

Error Crc32c::load(Crc32c &made) {
    void *library = dlopen("libisal.so.2", RTLD_NOW | RTLD_LOCAL);  // stays
    void *function = library ? dlsym(library, "crc32_iscsi") : nullptr;
    if (!function) {
        const char *trouble = dlerror();
        return Error(ErrorClass::other, "LANYARD_CHECKSUM=on needs ISA-L on each machine of the job (Debian: apt-get install libisal2): " +
                                            std::string(trouble ? trouble : "it has no crc32_iscsi"));
    }
    made.function_ = reinterpret_cast<unsigned (*)(unsigned char *, int, unsigned)>(function);
    return {};
}

}  // namespace lanyard
