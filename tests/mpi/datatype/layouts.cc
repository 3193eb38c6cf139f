// Compares every constructor of datatypes, with int and with large counts, with a plain list of the
// displacements of the datatype's integers. The tests check extents, packing, and messages around the ring of
// ranks: from the layout into contiguous memory, and from contiguous memory into the layout, where the gaps
// must stay untouched.
#include <algorithm>
#include <functional>
#include <vector>

#include "comm/check.h"

namespace {

// A datatype of integers and its expected layout: `places` has the displacement of each integer in bytes, in
// the order of the type map.
struct Layout {
    std::string name;
    std::function<void(MPI_Datatype *)> make, make_large;
    std::vector<MPI_Aint> places;
    MPI_Aint lower = 0, extent = 0;  // if extent is 0, `places` determines the bounds
};

// `middle`: integers of memory before the buffer's start. `elements`: elements of the datatype in a message.
constexpr int middle = 600, elements = 3;

int *at(std::vector<int> &memory, MPI_Aint bytes) { return memory.data() + middle + bytes / 4; }

std::vector<MPI_Aint> runs(const std::vector<std::pair<MPI_Aint, int>> &blocks) {
    std::vector<MPI_Aint> places;
    for (auto [start, length] : blocks)
        for (int i = 0; i < length; ++i) places.push_back(start + 4 * i);
    return places;
}

std::vector<Layout> indexed_layouts() {
    static const int lengths[] = {2, 0, 3, 1}, starts[] = {9, 1, -4, 3}, block_starts[] = {5, -3, 0};
    static const MPI_Aint bytes[] = {36, 4, -16, 12}, block_bytes[] = {20, -12, 0};
    static const MPI_Count large_lengths[] = {2, 0, 3, 1}, large_starts[] = {9, 1, -4, 3},
                           large_bytes[] = {36, 4, -16, 12}, large_block_starts[] = {5, -3, 0},
                           large_block_bytes[] = {20, -12, 0};
    auto indexed = runs({{36, 2}, {-16, 3}, {12, 1}}), block = runs({{20, 2}, {-12, 2}, {0, 2}});
    return {
        {"indexed", [](MPI_Datatype *type) { MPI_Type_indexed(4, lengths, starts, MPI_INT, type); },
         [](MPI_Datatype *type) { MPI_Type_indexed_c(4, large_lengths, large_starts, MPI_INT, type); },
         indexed},
        {"hindexed", [](MPI_Datatype *type) { MPI_Type_create_hindexed(4, lengths, bytes, MPI_INT, type); },
         [](MPI_Datatype *type) { MPI_Type_create_hindexed_c(4, large_lengths, large_bytes, MPI_INT, type); },
         indexed},
        {"indexed_block",
         [](MPI_Datatype *type) { MPI_Type_create_indexed_block(3, 2, block_starts, MPI_INT, type); },
         [](MPI_Datatype *type) { MPI_Type_create_indexed_block_c(3, 2, large_block_starts, MPI_INT, type); },
         block},
        {"hindexed_block",
         [](MPI_Datatype *type) { MPI_Type_create_hindexed_block(3, 2, block_bytes, MPI_INT, type); },
         [](MPI_Datatype *type) { MPI_Type_create_hindexed_block_c(3, 2, large_block_bytes, MPI_INT, type); },
         block},
        {"hvector", [](MPI_Datatype *type) { MPI_Type_create_hvector(3, 2, 20, MPI_INT, type); },
         [](MPI_Datatype *type) { MPI_Type_create_hvector_c(3, 2, 20, MPI_INT, type); },
         runs({{0, 2}, {20, 2}, {40, 2}})},
        {"hvector backwards", [](MPI_Datatype *type) { MPI_Type_create_hvector(3, 1, -12, MPI_INT, type); },
         [](MPI_Datatype *type) { MPI_Type_create_hvector_c(3, 1, -12, MPI_INT, type); },
         runs({{0, 1}, {-12, 1}, {-24, 1}})},
    };
}

// Returns datatypes built from datatypes, and datatypes whose extent does not end where their data end.
std::vector<Layout> nested_layouts() {
    static const int lengths[] = {1, 2}, starts[] = {0, 2};
    static const MPI_Aint bytes[] = {8, 40};
    static const MPI_Count large_lengths[] = {1, 2}, large_bytes[] = {8, 40}, large_starts[] = {0, 2};
    auto resized = [](MPI_Datatype *type) { MPI_Type_create_resized(MPI_INT, -4, 12, type); };
    auto resized_large = [](MPI_Datatype *type) { MPI_Type_create_resized_c(MPI_INT, -4, 12, type); };
    auto structure = [=](MPI_Datatype *type) {
        MPI_Datatype types[] = {MPI_INT, MPI_DATATYPE_NULL};
        resized(&types[1]);
        MPI_Type_create_struct(2, lengths, bytes, types, type);
        MPI_Type_free(&types[1]);
    };
    auto structure_large = [=](MPI_Datatype *type) {
        MPI_Datatype types[] = {MPI_INT, MPI_DATATYPE_NULL};
        resized_large(&types[1]);
        MPI_Type_create_struct_c(2, large_lengths, large_bytes, types, type);
        MPI_Type_free(&types[1]);
    };
    auto indexed = [=](MPI_Datatype *type) {
        MPI_Datatype vector;
        MPI_Type_create_hvector(2, 1, 8, MPI_INT, &vector);
        MPI_Type_indexed(2, lengths, starts, vector, type);
        MPI_Type_free(&vector);
    };
    auto indexed_large = [=](MPI_Datatype *type) {
        MPI_Datatype vector;
        MPI_Type_create_hvector_c(2, 1, 8, MPI_INT, &vector);
        MPI_Type_indexed_c(2, large_lengths, large_starts, vector, type);
        MPI_Type_free(&vector);
    };
    // The struct's second member has explicit bounds. Then these alone determine the bounds of the struct.
    return {{"resized", resized, resized_large, {0}, -4, 12},
            {"struct", structure, structure_large, {8, 40, 52}, 36, 24},
            {"indexed of vectors", indexed, indexed_large, {0, 8, 24, 32, 36, 44}}};
}

// Returns datatypes that select a box in an array of 4 x 5 x 6. `order` determines which index varies fastest
// in memory.
std::vector<Layout> subarrays() {
    static const int sizes[] = {4, 5, 6}, inner[] = {2, 3, 2}, starts[] = {1, 2, 3};
    static const MPI_Count large_sizes[] = {4, 5, 6}, large_inner[] = {2, 3, 2}, large_starts[] = {1, 2, 3};
    std::vector<Layout> layouts;
    for (int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
        bool c = order == MPI_ORDER_C;
        std::vector<MPI_Aint> places;
        for (int k = 3; k < 5; ++k)
            for (int j = 2; j < 5; ++j)
                for (int i = 1; i < 3; ++i)
                    places.push_back((c ? (i * 5 + j) * 6 + k : i + 4 * (j + 5 * k)) * 4);
        std::sort(places.begin(), places.end());
        layouts.push_back({c ? "subarray" : "subarray of Fortran",
                           [=](MPI_Datatype *type) {
                               MPI_Type_create_subarray(3, sizes, inner, starts, order, MPI_INT, type);
                           },
                           [=](MPI_Datatype *type) {
                               MPI_Type_create_subarray_c(3, large_sizes, large_inner, large_starts, order,
                                                          MPI_INT, type);
                           },
                           places, 0, 480});
    }
    return layouts;
}

// Returns, for each of 2 x 3 processes, its part of an array of 7 x 11 x 2: blocks along the first index,
// pairs dealt cyclically along the second, and the third index not divided. Whichever order the array has in
// memory, the processes are numbered with the last index fastest.
std::vector<Layout> darrays() {
    static const int sizes[] = {7, 11, 2}, grid[] = {2, 3, 1},
                     arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, 2, MPI_DISTRIBUTE_DFLT_DARG},
                     ways[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    static const MPI_Count large_sizes[] = {7, 11, 2};
    std::vector<Layout> layouts;
    for (int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
        bool c = order == MPI_ORDER_C;
        for (int part = 0; part < 6; ++part) {
            std::vector<MPI_Aint> places;
            for (int i = 0; i < 7; ++i)
                for (int j = 0; j < 11; ++j)
                    for (int k = 0; k < 2; ++k)
                        if (i / 4 * 3 + j / 2 % 3 == part)
                            places.push_back((c ? (i * 11 + j) * 2 + k : i + 7 * (j + 11 * k)) * 4);
            std::sort(places.begin(), places.end());
            auto make = [=](MPI_Datatype *type) {
                MPI_Type_create_darray(6, part, 3, sizes, ways, arguments, grid, order, MPI_INT, type);
            };
            auto make_large = [=](MPI_Datatype *type) {
                MPI_Type_create_darray_c(6, part, 3, large_sizes, ways, arguments, grid, order, MPI_INT,
                                         type);
            };
            std::string name =
                std::string("darray") + (c ? "" : " of Fortran") + ", part " + std::to_string(part);
            layouts.push_back({name, make, make_large, places, 0, 7 * 11 * 2 * 4});
        }
    }
    return layouts;
}

void check_extents(const Layout &layout, MPI_Datatype type, const std::string &what) {
    auto [first, last] = std::minmax_element(layout.places.begin(), layout.places.end());
    MPI_Aint true_lower = *first, true_extent = *last + 4 - *first;
    MPI_Aint lower = layout.extent ? layout.lower : true_lower,
             extent = layout.extent ? layout.extent : true_extent;
    MPI_Aint is[4] = {};
    MPI_Count large[4] = {}, old[4] = {}, size = 0, old_size = 0;
    MPI_Type_get_extent(type, &is[0], &is[1]);
    MPI_Type_get_true_extent(type, &is[2], &is[3]);
    check(is[0] == lower && is[1] == extent,
          what + "'s extent is " + std::to_string(is[0]) + ", " + std::to_string(is[1]));
    check(is[2] == true_lower && is[3] == true_extent,
          what + "'s true extent is " + std::to_string(is[2]) + ", " + std::to_string(is[3]));
    MPI_Type_get_extent_c(type, &large[0], &large[1]);
    MPI_Type_get_true_extent_c(type, &large[2], &large[3]);
    MPI_Type_get_extent_x(type, &old[0], &old[1]);
    MPI_Type_get_true_extent_x(type, &old[2], &old[3]);
    for (int i = 0; i < 4; ++i)
        check(large[i] == is[i] && old[i] == is[i], what + "'s extents differ between their functions");
    MPI_Type_size_c(type, &size);
    MPI_Type_size_x(type, &old_size);
    check(size == static_cast<MPI_Count>(4 * layout.places.size()) && old_size == size,
          what + " has another size");
}

// Returns the integers that successive elements of the datatype select in memory, in the order of the type
// map.
std::vector<int> gathered(const Layout &layout, std::vector<int> &memory, MPI_Aint extent) {
    std::vector<int> plain;
    for (int n = 0; n < elements; ++n)
        for (MPI_Aint place : layout.places) plain.push_back(*at(memory, n * extent + place));
    return plain;
}

std::vector<int> filled(int seed) {
    std::vector<int> memory(3 * middle);
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = seed * 10000 + static_cast<int>(i);
    return memory;
}

void pack(MPI_Datatype type, std::vector<int> &memory, std::vector<int> &plain,
          std::vector<int> &wanted_memory, const std::string &what) {
    int count = static_cast<int>(plain.size());
    MPI_Count bytes = 0, position = 0;
    MPI_Pack_size_c(elements, type, MPI_COMM_WORLD, &bytes);
    check(bytes >= 4 * count, what + ": MPI_Pack_size_c says too little");
    std::vector<int> packed(static_cast<size_t>(bytes) / 4 + 1), back(memory.size(), -1),
        unpacked(plain.size());
    MPI_Pack_c(at(memory, 0), elements, type, packed.data(), bytes, &position, MPI_COMM_WORLD);
    check(position <= bytes, what + ": MPI_Pack_c went past what MPI_Pack_size_c says");
    MPI_Count filled_bytes = position;
    position = 0;
    MPI_Unpack_c(packed.data(), filled_bytes, &position, unpacked.data(), count, MPI_INT, MPI_COMM_WORLD);
    check(unpacked == plain && position == filled_bytes, what + ": packed and unpacked integers differ");
    position = 0;
    MPI_Unpack_c(packed.data(), filled_bytes, &position, at(back, 0), elements, type, MPI_COMM_WORLD);
    check(back == wanted_memory, what + ": unpacking into the layout is wrong");

    MPI_Pack_external_size_c("external32", elements, type, &bytes);
    check(bytes == 4 * count, what + ": MPI_Pack_external_size_c is wrong");
    std::vector<unsigned char> outside(static_cast<size_t>(bytes));
    position = 0;
    MPI_Pack_external_c("external32", at(memory, 0), elements, type, outside.data(), bytes, &position);
    check(position == bytes, what + ": MPI_Pack_external_c wrote another number of bytes");
    for (size_t i = 0; i < plain.size(); ++i) {
        const unsigned char *b = &outside[4 * i];
        check((b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3]) == plain[i],
              what + ": the external form is wrong");
    }
    std::fill(back.begin(), back.end(), -1);
    position = 0;
    MPI_Unpack_external_c("external32", outside.data(), bytes, &position, at(back, 0), elements, type);
    check(back == wanted_memory, what + ": unpacking the external form is wrong");
}

void check_layout(const Layout &layout, MPI_Datatype type, const std::string &what) {
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD), next = (rank + 1) % size,
        previous = (rank + size - 1) % size;
    check_extents(layout, type, what);
    MPI_Type_commit(&type);
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    std::vector<int> mine = filled(rank), theirs = filled(previous);
    std::vector<int> plain = gathered(layout, mine, extent), wanted = gathered(layout, theirs, extent);
    std::vector<int> arrived(plain.size(), -1), into(mine.size(), -1), wanted_memory(mine.size(), -1),
        own_memory(mine.size(), -1);
    int count = static_cast<int>(plain.size());
    for (int n = 0; n < elements; ++n) {
        for (MPI_Aint place : layout.places) {
            *at(wanted_memory, n * extent + place) = *at(theirs, n * extent + place);
            *at(own_memory, n * extent + place) = *at(mine, n * extent + place);
        }
    }
    MPI_Sendrecv(at(mine, 0), elements, type, next, 1, arrived.data(), count, MPI_INT, previous, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(arrived == wanted, what + ": what was sent out of the layout is wrong");
    MPI_Sendrecv(plain.data(), count, MPI_INT, next, 2, at(into, 0), elements, type, previous, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(into == wanted_memory, what + ": what was received into the layout is wrong");
    std::fill(into.begin(), into.end(), -1);
    MPI_Sendrecv(at(mine, 0), elements, type, next, 3, at(into, 0), elements, type, previous, 3,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(into == wanted_memory, what + ": what went from layout to layout is wrong");
    pack(type, mine, plain, own_memory, what);
}

// Uses addresses of variables as displacements from MPI_BOTTOM.
void absolute_addresses() {
    int first = 11, second[2] = {22, 33}, lengths[] = {1, 2}, arrived[3] = {};
    MPI_Aint places[2];
    MPI_Get_address(&first, &places[0]);
    MPI_Get_address(second, &places[1]);
    MPI_Aint behind = MPI_Aint_add(places[1], 4);
    check(behind - places[1] == 4 && MPI_Aint_diff(places[1], behind) == -4,
          "addresses are added or subtracted wrongly");
    check(MPI_Aint_diff(places[0], places[1]) ==
          reinterpret_cast<char *>(&first) - reinterpret_cast<char *>(second));
    MPI_Datatype type;
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(MPI_BOTTOM, 1, type, 0, 1, arrived, 3, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    check(arrived[0] == 11 && arrived[1] == 22 && arrived[2] == 33,
          "MPI_BOTTOM with absolute addresses gives other integers");
    MPI_Type_free(&type);
}

// If a datatype was built from a derived datatype, MPI_Type_get_contents returns a handle of the derived one,
// which the program owns and must free. This handle must stay valid when the other handles are freed.
void contents_of_nested() {
    MPI_Datatype vector, nested, inner;
    MPI_Type_vector(2, 1, 3, MPI_INT, &vector);
    MPI_Type_contiguous(4, vector, &nested);
    MPI_Type_free(&vector);
    int integers[3], combiner, counts[3], size;
    MPI_Type_get_contents(nested, 1, 0, 1, integers, nullptr, &inner);
    check_equal(integers[0], 4);
    MPI_Type_free(&nested);
    MPI_Type_get_envelope(inner, &counts[0], &counts[1], &counts[2], &combiner);
    check_equal(combiner, MPI_COMBINER_VECTOR);
    MPI_Datatype innermost;
    MPI_Type_get_contents(inner, 3, 0, 1, integers, nullptr, &innermost);
    check(integers[0] == 2 && integers[1] == 1 && integers[2] == 3 && innermost == MPI_INT);
    MPI_Type_size(inner, &size);
    check_equal(size, 8);
    int out[4] = {5, 6, 7, 8}, arrived[2] = {};
    MPI_Type_commit(&inner);
    MPI_Sendrecv(out, 1, inner, 0, 1, arrived, 2, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    check(arrived[0] == 5 && arrived[1] == 8, "the inner datatype gives other integers");
    MPI_Datatype kept = inner;
    check_equal(MPI_Type_free(&inner), MPI_SUCCESS);
    check(inner == MPI_DATATYPE_NULL);
    check_class(MPI_Type_size(kept, &size), MPI_ERR_TYPE);
}

void found_by_size() {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    for (int size : {1, 2, 4, 8}) {
        int is = -1;
        MPI_Type_match_size(MPI_TYPECLASS_INTEGER, size, &type);
        MPI_Type_size(type, &is);
        check_equal(is, size);
    }
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type);
    check(type == MPI_REAL8, "the real of 8 bytes is another datatype");
    MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 8, &type);
    check(type == MPI_COMPLEX8, "the complex of 8 bytes is another datatype");
    check_class(MPI_Type_match_size(MPI_TYPECLASS_REAL, 7, &type), MPI_ERR_ARG);
    check_class(MPI_Type_match_size(-5, 4, &type), MPI_ERR_ARG);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &type);
    check(type == MPI_DOUBLE_INT, "the pair of double and int is another datatype");
    MPI_Type_get_value_index(MPI_INT, MPI_INT, &type);
    check(type == MPI_2INT, "the pair of two ints is another datatype");
    MPI_Type_get_value_index(MPI_CHAR, MPI_DOUBLE, &type);
    check(type == MPI_DATATYPE_NULL, "there is a pair of char and double");
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    for (const auto &make_all : {indexed_layouts, nested_layouts, subarrays, darrays}) {
        for (const Layout &layout : make_all()) {
            for (bool large : {false, true}) {
                MPI_Datatype type = MPI_DATATYPE_NULL;
                (large ? layout.make_large : layout.make)(&type);
                check_layout(layout, type, layout.name + (large ? " with large counts" : ""));
                MPI_Type_free(&type);
            }
        }
    }
    absolute_addresses();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    contents_of_nested();
    found_by_size();
    use(MPI_COMM_WORLD);
    MPI_Finalize();
}
