// Tests queries of versions, names, time, memory and properties of the ABI.
#include "check.h"

#include <cstdint>

int main(int argc, char **argv) {
    int version, subversion, length;
    char library[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME];
    MPI_Get_version(&version, &subversion);  // allowed before MPI_Init
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
    for (int level : {0, 1, 2, -7}) check_equal(MPI_Pcontrol(level, "for tools"), MPI_SUCCESS);

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
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "24");  // not a power of two, so the hint is ignored
    check_equal(MPI_Alloc_mem(0, info, &memory), MPI_SUCCESS);
    check_equal(MPI_Free_mem(memory), MPI_SUCCESS);
    MPI_Info_free(&info);
    // A communicator can be split by each reported kind of resource, for instance into cores. If a process
    // runs within one resource of this kind, it gets a part. Otherwise it gets MPI_COMM_NULL.
    MPI_Get_hw_resource_info(&info);
    int kinds = 0;
    MPI_Info_get_nkeys(info, &kinds);
    check(kinds > 0);
    for (int i = 0; i < kinds; ++i) {
        char kind[MPI_MAX_INFO_KEY], value[8];
        int size = sizeof value, found = 0;
        MPI_Info_get_nthkey(info, i, kind);
        MPI_Info_get_string(info, kind, &size, value, &found);
        MPI_Info wanted;
        MPI_Info_create(&wanted);
        MPI_Info_set(wanted, "mpi_hw_resource_type", kind);
        MPI_Comm part = MPI_COMM_NULL;
        check_equal(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, wanted, &part),
                    MPI_SUCCESS);
        check_equal(part != MPI_COMM_NULL, std::string(value) == "true");
        if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
        MPI_Info_free(&wanted);
    }
    MPI_Info_free(&info);
    MPI_Finalize();
}
