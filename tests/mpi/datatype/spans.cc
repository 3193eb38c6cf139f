// Tests datatypes that span 5 GiB or more of reserved address space. Only the pages with data use memory.
// Each datatype is sent around the ring. It is also packed and then unpacked. (The datatype of
// MPI_Type_create_darray_c has too much data for this, so only its size and extent are checked.) Further
// tests use counts above 2^31, as arguments and in statuses. A number that does not fit into the result is
// reported as MPI_UNDEFINED where the standard says so, and as an error elsewhere. It must never wrap around.
#include <sys/mman.h>

#include <functional>
#include <vector>

#include "comm/check.h"

namespace {

constexpr MPI_Count gib = MPI_Count{1} << 30, span = 5 * gib;
int rank, to, from;

// A range of addresses whose pages get memory only when they are touched.
class Space {
public:
    explicit Space(MPI_Count bytes) : bytes_(static_cast<size_t>(bytes)) {
        void *all =
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        check(all != MAP_FAILED, "addresses");
        base_ = static_cast<char *>(all);
    }
    ~Space() { munmap(base_, bytes_); }
    Space(const Space &) = delete;
    Space &operator=(const Space &) = delete;
    int &at(MPI_Count bytes) { return *reinterpret_cast<int *>(base_ + bytes); }
    char *data() { return base_; }

private:
    size_t bytes_;
    char *base_;
};

struct Far {
    const char *name;
    std::function<void(MPI_Datatype *)> make;
    std::vector<MPI_Count> places;  // displacements of the datatype's integers, in the order of the type map
    MPI_Count extent;
};

std::vector<Far> far_ones() {
    static const MPI_Count lengths[] = {1, 2}, places[] = {0, span / 4}, bytes[] = {8, span + 8},
                           sizes[] = {span / 4, 2}, subsizes[] = {2, 1}, starts[] = {span / 4 - 2, 1},
                           distributed[] = {span / 4};
    static const MPI_Aint addresses[] = {4, span};
    return {
        {"vector_c",
         [](MPI_Datatype *type) { MPI_Type_vector_c(3, 1, span / 8, MPI_INT, type); },
         {0, span / 2, span},
         span + 4},
        {"vector",
         [](MPI_Datatype *type) { MPI_Type_vector(2, 1, static_cast<int>(span / 4), MPI_INT, type); },
         {0, span},
         span + 4},
        {"hvector",
         [](MPI_Datatype *type) { MPI_Type_create_hvector(2, 2, span, MPI_INT, type); },
         {0, 4, span, span + 4},
         span + 8},
        {"indexed_c",
         [](MPI_Datatype *type) { MPI_Type_indexed_c(2, lengths, places, MPI_INT, type); },
         {0, span, span + 4},
         span + 8},
        {"hindexed_c",
         [](MPI_Datatype *type) { MPI_Type_create_hindexed_c(2, lengths, bytes, MPI_INT, type); },
         {8, span + 8, span + 12},
         span + 8},
        {"indexed_block_c",
         [](MPI_Datatype *type) { MPI_Type_create_indexed_block_c(2, 1, places, MPI_INT, type); },
         {0, span},
         span + 4},
        {"hindexed_block",
         [](MPI_Datatype *type) { MPI_Type_create_hindexed_block(2, 1, addresses, MPI_INT, type); },
         {4, span},
         span},
        {"struct",
         [](MPI_Datatype *type) {
             int ones[] = {1, 1};
             MPI_Datatype types[] = {MPI_INT, MPI_INT};
             MPI_Type_create_struct(2, ones, addresses, types, type);
         },
         {4, span},
         span},
        {"subarray_c",
         [](MPI_Datatype *type) {
             MPI_Type_create_subarray_c(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, type);
         },
         {2 * span - 12, 2 * span - 4},
         2 * span},
        {"darray_c",
         [](MPI_Datatype *type) {  // the last block is four elements shorter than the others
             int distribution = MPI_DISTRIBUTE_BLOCK, argument = 335544321, processes = 4;
             MPI_Type_create_darray_c(4, 3, 1, distributed, &distribution, &argument, &processes, MPI_ORDER_C,
                                      MPI_INT, type);
         },
         {},
         span},
        {"resized", [](MPI_Datatype *type) { MPI_Type_create_resized(MPI_INT, 0, span, type); }, {0}, span},
    };
}

void round_trip(const Far &far) {
    MPI_Datatype type;
    far.make(&type);
    MPI_Type_commit(&type);
    MPI_Count lower, extent, size;
    MPI_Type_get_extent_c(type, &lower, &extent);
    check(extent == far.extent, far.name);
    MPI_Type_size_c(type, &size);
    if (far.places.empty()) {  // the datatype has too much data to move
        check(size > gib, far.name);
        MPI_Type_free(&type);
        return;
    }
    check(size == static_cast<MPI_Count>(4 * far.places.size()), far.name);
    constexpr int elements = 2;
    Space out(2 * far.extent + 4096), in(2 * far.extent + 4096);
    auto each = [&](auto visit) {
        for (int element = 0, number = 0; element < elements; ++element)
            for (MPI_Count place : far.places) visit(element * far.extent + place, ++number);
    };
    each([&](MPI_Count at, int number) { out.at(at) = rank * 100 + number; });
    MPI_Status status;
    MPI_Sendrecv(out.data(), elements, type, to, 1, in.data(), elements, type, from, 1, MPI_COMM_WORLD,
                 &status);
    each([&](MPI_Count at, int number) { check(in.at(at) == from * 100 + number, far.name); });
    int count;
    MPI_Get_count(&status, type, &count);
    check(count == elements, far.name);
    std::vector<char> packed(static_cast<size_t>(elements * size));
    MPI_Aint position = 0;
    MPI_Pack_external("external32", out.data(), elements, type, packed.data(), elements * size, &position);
    check(position == elements * size, far.name);
    each([&](MPI_Count at, int) { in.at(at) = -1; });
    position = 0;
    MPI_Unpack_external("external32", packed.data(), elements * size, &position, in.data(), elements, type);
    each([&](MPI_Count at, int number) { check(in.at(at) == rank * 100 + number, far.name); });
    MPI_Count place = 0;
    MPI_Pack_c(out.data(), elements, type, packed.data(), elements * size, &place, MPI_COMM_WORLD);
    each([&](MPI_Count at, int) { in.at(at) = -1; });
    place = 0;
    MPI_Unpack_c(packed.data(), elements * size, &place, in.data(), elements, type, MPI_COMM_WORLD);
    each([&](MPI_Count at, int number) { check(in.at(at) == rank * 100 + number, far.name); });
    MPI_Type_free(&type);
}

// Tests counts that do not fit into an int although little or no data is moved.
void large_counts() {
    MPI_Datatype nothing;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    Space space(2 * span);
    MPI_Status status;
    MPI_Count count;
    MPI_Sendrecv_c(space.data(), span, nothing, to, 2, space.data() + span, span, nothing, from, 2,
                   MPI_COMM_WORLD, &status);
    MPI_Get_count_c(&status, nothing, &count);
    check(count == 0);
    MPI_Type_free(&nothing);

    // The receive has room for far more than arrives.
    space.at(0) = rank;
    MPI_Sendrecv_c(space.data(), 1, MPI_INT, to, 3, space.data() + gib, span / 4, MPI_INT, from, 3,
                   MPI_COMM_WORLD, &status);
    check(space.at(gib) == from);
    MPI_Get_count_c(&status, MPI_INT, &count);
    check(count == 1);
}

void statuses() {
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_DOUBLE_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Status status;
    int small;
    MPI_Count large;
    for (MPI_Count elements : {span, span + 1, span + 2, span + 3}) {
        check_equal(MPI_Status_set_elements_c(&status, pair, elements), MPI_SUCCESS);
        MPI_Get_elements_c(&status, pair, &large);
        check(large == elements);
        MPI_Get_elements_x(&status, pair, &large);
        check(large == elements);
        MPI_Get_elements(&status, pair, &small);
        check_equal(small, MPI_UNDEFINED);
        MPI_Get_count_c(&status, pair, &large);
        check(large == (elements % 4 == 0 ? elements / 4 : MPI_UNDEFINED));
    }
    MPI_Status_set_elements_x(&status, MPI_BYTE, span);
    MPI_Get_count(&status, MPI_BYTE, &small);
    check_equal(small, MPI_UNDEFINED);
    MPI_Get_count_c(&status, MPI_INT, &large);
    check(large == span / 4);
    MPI_Type_free(&pair);
}

void expect(int code, int error_class, const char *part,
            const std::source_location &where = std::source_location::current()) {
    check_class(code, error_class, where);
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    check(std::strstr(text, part) != nullptr, std::string("the text is: ") + text, where);
}

// Arguments without effect may have any value. Other arguments that are wrong or too large are refused.
void what_says_nothing() {
    MPI_Datatype type, heap, same_byte;
    MPI_Aint lower, extent;
    MPI_Count size_c;
    char few[16];
    // With fewer than two blocks, the stride has no effect. A block longer than the array covers the whole
    // array.
    MPI_Type_create_hvector(1, 4, MPI_Aint{1} << 62, MPI_INT, &type);
    MPI_Type_get_extent(type, &lower, &extent);
    check(lower == 0 && extent == 16);
    MPI_Type_free(&type);
    int sizes[] = {8, 1 << 28}, deals[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE}, grid[] = {4, 1};
    int blocks[] = {INT32_MAX, MPI_DISTRIBUTE_DFLT_DARG};
    for (int place = 0; place < 4; ++place) {
        MPI_Type_create_darray(4, place, 2, sizes, deals, blocks, grid, MPI_ORDER_C, MPI_DOUBLE, &type);
        MPI_Type_size_c(type, &size_c);
        check(size_c == (place == 0 ? MPI_Count{8} << 31 : 0));
        MPI_Type_get_extent(type, &lower, &extent);
        check(lower == 0 && extent == MPI_Aint{8} << 31);
        MPI_Type_free(&type);
    }
    expect(MPI_Type_create_subarray(0, sizes, sizes, sizes, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG,
           "number of dimensions is 0");
    expect(MPI_Type_create_darray(1, 0, 0, sizes, deals, blocks, grid, MPI_ORDER_C, MPI_INT, &type),
           MPI_ERR_ARG, "number of dimensions is 0");

    // The depth of nested datatypes is limited, so that the stack does not overflow.
    MPI_Datatype outer;
    MPI_Type_contiguous(2, MPI_INT, &type);
    int result = MPI_SUCCESS, depth = 1;
    for (; depth < 2'000 && result == MPI_SUCCESS; ++depth) {
        result = MPI_Type_dup(type, &outer);
        MPI_Type_free(&type);
        type = outer;
    }
    check_equal(depth, 1'001);
    expect(result, MPI_ERR_NO_MEM, "more than 1000 deep");

    // These datatypes and messages have more bytes than MPI_Count can represent. The product of count and
    // size overflows, so the call must report an error. It must not use the overflowed, small product.
    expect(MPI_Send_c(few, MPI_Count{1} << 61, MPI_DOUBLE, to, 9, MPI_COMM_WORLD), MPI_ERR_COUNT,
           "more than 2^63 bytes");
    MPI_Type_create_resized(MPI_INT, 0, 0, &same_byte);
    MPI_Type_contiguous_c(MPI_Count{1} << 57, same_byte, &heap);
    expect(MPI_Type_create_hvector_c(MPI_Count{1} << 61, MPI_Count{1} << 61, 0, heap, &type), MPI_ERR_ARG,
           "2^62");
    MPI_Type_free(&heap);
    MPI_Type_free(&same_byte);
}

void what_does_not_fit() {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Datatype large, type, heap, same_byte;
    MPI_Type_contiguous_c(span, MPI_BYTE, &large);
    int size;
    MPI_Count size_c;
    MPI_Type_size(large, &size);
    check_equal(size, MPI_UNDEFINED);
    MPI_Type_size_x(large, &size_c);
    check(size_c == span);
    MPI_Aint lower, extent;
    MPI_Type_get_extent(large, &lower, &extent);
    check(lower == 0 && extent == span);
    MPI_Type_get_true_extent(large, &lower, &extent);
    check(lower == 0 && extent == span);
    MPI_Pack_size(1, large, MPI_COMM_WORLD, &size);
    check_equal(size, MPI_UNDEFINED);
    MPI_Pack_size_c(3, large, MPI_COMM_WORLD, &size_c);
    check(size_c == 3 * span);
    MPI_Count integers, addresses, counts, types;
    int few[4], combiner;
    expect(MPI_Type_get_envelope(large, &few[0], &few[1], &few[2], &combiner), MPI_ERR_TYPE,
           "MPI_Type_get_envelope_c");
    MPI_Type_get_envelope_c(large, &integers, &addresses, &counts, &types, &combiner);
    check(integers == 0 && addresses == 0 && counts == 1 && types == 1 &&
          combiner == MPI_COMBINER_CONTIGUOUS);
    MPI_Count contents[1];
    MPI_Type_get_contents_c(large, 0, 0, 1, 1, nullptr, nullptr, contents, &type);
    check(contents[0] == span && type == MPI_BYTE);

    const char *too_large = "2^62";
    expect(MPI_Type_contiguous_c(gib, large, &type), MPI_ERR_ARG, too_large);
    expect(MPI_Type_vector_c(2, 1, MPI_Count{1} << 61, MPI_INT, &type), MPI_ERR_ARG, too_large);
    expect(MPI_Type_create_hvector(3, 1, MPI_Aint{1} << 61, MPI_INT, &type), MPI_ERR_ARG, too_large);
    MPI_Count one[] = {1}, far[] = {MPI_Count{1} << 61}, farther[] = {INT64_MAX};
    expect(MPI_Type_indexed_c(1, one, far, MPI_INT, &type), MPI_ERR_ARG, too_large);
    expect(MPI_Type_create_hindexed_c(1, one, farther, MPI_INT, &type), MPI_ERR_ARG, too_large);
    expect(MPI_Type_create_subarray_c(1, far, one, one, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG, too_large);
    expect(MPI_Type_create_resized(MPI_INT, 0, INT64_MAX, &type), MPI_ERR_ARG, too_large);

    // This datatype contains the same byte 2^50 times. Its size fits into MPI_Count, but the length of a
    // message with 2^14 of them does not.
    MPI_Type_create_resized(MPI_BYTE, 0, 0, &same_byte);
    MPI_Type_contiguous_c(MPI_Count{1} << 50, same_byte, &heap);
    MPI_Type_commit(&heap);
    char byte = 1;
    expect(MPI_Send_c(&byte, MPI_Count{1} << 14, heap, to, 9, MPI_COMM_WORLD), MPI_ERR_COUNT,
           "more than 2^63 bytes");
    expect(MPI_Recv(&byte, 1 << 14, heap, from, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_COUNT,
           "more than 2^63 bytes");
    expect(MPI_Pack_size_c(MPI_Count{1} << 14, heap, MPI_COMM_WORLD, &size_c), MPI_ERR_COUNT, "2^63");
    MPI_Count place = 0;
    expect(MPI_Pack_c(&byte, MPI_Count{1} << 12, heap, few, sizeof few, &place, MPI_COMM_WORLD),
           MPI_ERR_TRUNCATE, "do not fit");
    MPI_Status status;
    expect(MPI_Status_set_elements_c(&status, MPI_DOUBLE, INT64_MAX), MPI_ERR_COUNT, "2^63");
    MPI_Type_free(&heap);
    MPI_Type_free(&same_byte);
    MPI_Type_free(&large);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    rank = rank_in(MPI_COMM_WORLD);
    int size = size_of(MPI_COMM_WORLD);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    for (const Far &far : far_ones()) round_trip(far);
    large_counts();
    statuses();
    what_does_not_fit();
    what_says_nothing();
    MPI_Finalize();
}
