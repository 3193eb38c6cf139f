// Built instead of the other files fabric_*.cc if libfabric's headers are missing.
#include "net/fabric.h"

namespace lanyard {

Error open_fabric(const FabricChoice &choice, std::unique_ptr<PacketIo> &) {
    return Error(
        ErrorClass::other,
        choice.setting() +
            " cannot be used: this Lanyard was built without libfabric's headers; install them (Debian: "
            "apt-get install libfabric-dev) and build it again, or use LANYARD_DGRAM_IO=udp");
}

}  // namespace lanyard
