// Versions, names, time, memory and the facts of the ABI.
#include "check.h"

#include <cstdint>

int main(int argc, char **argv) {
    int version, subversion, length;
    char library[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME];
    MPI_Get_version(&version, &subversion);  // before MPI_Init
    check(version == MPI_VERSION && subversion == MPI_SUBVERSION);
    MPI_Get_library_version(library, &length);
    check(length > 0 && std::strlen(library) == static_cast<size_t>(length));
    int major, minor;
    MPI_Abi_get_version(&major, &minor);
    check(major == -1 || major >= 1);

    MPI_Init(&argc, &argv);
    MPI_Get_processor_name(name, &length);
    check(length > 0 && std::strlen(name) == static_cast<size_t>(length));
    double before = MPI_Wtime(), tick = MPI_Wtick();
    check(tick > 0 && tick < 0.1);
    while (MPI_Wtime() - before < 0.002) {
    }
    MPI_Pcontrol(1);

    for (MPI_Aint size : {1, 4096, 1 << 20}) {
        void *memory = nullptr;
        MPI_Alloc_mem(size, MPI_INFO_NULL, &memory);
        check(memory != nullptr && reinterpret_cast<uintptr_t>(memory) % 16 == 0);
        std::memset(memory, 1, static_cast<size_t>(size));
        MPI_Free_mem(memory);
    }
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096");
    void *memory = nullptr;
    MPI_Alloc_mem(10, info, &memory);
    check(reinterpret_cast<uintptr_t>(memory) % 4096 == 0);
    MPI_Free_mem(memory);
    MPI_Info_free(&info);
    MPI_Get_hw_resource_info(&info);
    MPI_Info_free(&info);
    MPI_Finalize();
}
