// Tests the MPI functions for groups. tests/unit/comm tests the group operations behind them.
#include "check.h"

#include <vector>

namespace {

int count_of(MPI_Group group) {
    int size;
    MPI_Group_size(group, &size);
    return size;
}

// Returns the members of a group as ranks in MPI_COMM_WORLD.
std::vector<int> members(MPI_Group group) {
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    std::vector<int> own(static_cast<size_t>(count_of(group))), result(own.size());
    for (size_t i = 0; i < own.size(); ++i) own[i] = static_cast<int>(i);
    MPI_Group_translate_ranks(group, static_cast<int>(own.size()), own.data(), world, result.data());
    MPI_Group_free(&world);
    return result;
}

void expect(MPI_Group group, const std::vector<int> &wanted,
            const std::source_location &where = std::source_location::current()) {
    check(members(group) == wanted, "the group has other members", where);
    int rank, expected = MPI_UNDEFINED, own = rank_in(MPI_COMM_WORLD);
    for (size_t i = 0; i < wanted.size(); ++i)
        if (wanted[i] == own) expected = static_cast<int>(i);
    MPI_Group_rank(group, &rank);
    check_equal(rank, expected, where);
    MPI_Group_free(&group);
    check(group == MPI_GROUP_NULL, "the handle is not the null handle", where);
}

std::vector<int> range(int from, int to, int step = 1) {
    std::vector<int> result;
    for (int i = from; step > 0 ? i <= to : i >= to; i += step) result.push_back(i);
    return result;
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int size = size_of(MPI_COMM_WORLD), last = size - 1;
    MPI_Group world, made, other;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    check_equal(count_of(world), size);

    std::vector<int> backwards = range(last, 0, -1);
    MPI_Group_incl(world, size, backwards.data(), &made);
    int result;
    MPI_Group_compare(world, made, &result);
    check_equal(result, size == 1 ? MPI_IDENT : MPI_SIMILAR);
    MPI_Group_union(made, world, &other);
    expect(other, backwards);
    MPI_Group_intersection(world, made, &other);
    expect(other, range(0, last));
    MPI_Group_difference(world, made, &other);
    check(other == MPI_GROUP_EMPTY, "an empty result is MPI_GROUP_EMPTY");
    MPI_Group_free(&other);
    for (int turn = 0; turn < 3; ++turn) {
        other = MPI_GROUP_EMPTY;  // the program did not create this handle
        check_equal(MPI_Group_free(&other), MPI_SUCCESS);
        check(other == MPI_GROUP_NULL, "a group that was freed still has a handle");
    }
    MPI_Group_compare(MPI_GROUP_EMPTY, world, &result);
    check_equal(result, MPI_UNEQUAL);
    expect(made, backwards);

    MPI_Group_excl(world, 1, &last, &made);
    expect(made, range(0, last - 1));
    MPI_Group_incl(world, 1, &last, &made);
    MPI_Group_union(made, MPI_GROUP_EMPTY, &other);
    expect(other, {last});
    expect(made, {last});
    int ranges[2][3] = {{last, 0, -2}, {last - 1, 0, -2}};
    MPI_Group_range_incl(world, size > 1 ? 2 : 1, ranges, &made);
    std::vector<int> wanted = range(last, 0, -2), rest = range(last - 1, 0, -2);
    wanted.insert(wanted.end(), rest.begin(), rest.end());
    expect(made, wanted);
    MPI_Group_range_excl(world, 1, ranges, &made);
    std::vector<int> kept;
    for (int rank = 0; rank < size; ++rank)
        if ((last - rank) % 2) kept.push_back(rank);
    expect(made, kept);

    MPI_Comm_group(MPI_COMM_SELF, &made);
    int zero_and_null[] = {0, MPI_PROC_NULL}, translated[2];
    MPI_Group_translate_ranks(world, 2, zero_and_null, made, translated);
    check_equal(translated[0], rank_in(MPI_COMM_WORLD) == 0 ? 0 : MPI_UNDEFINED);
    check_equal(translated[1], MPI_PROC_NULL);
    expect(made, {rank_in(MPI_COMM_WORLD)});

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int outside[] = {size}, twice[] = {0, 0};
    check_class(MPI_Group_incl(world, 1, outside, &made), MPI_ERR_RANK);
    check_class(MPI_Group_excl(world, 2, twice, &made), MPI_ERR_RANK);
    check_class(MPI_Group_size(MPI_GROUP_NULL, &result), MPI_ERR_GROUP);
    MPI_Group stale = world;
    MPI_Group_free(&world);
    // The handle is refused although the communicator still uses its group.
    check_class(MPI_Group_size(stale, &result), MPI_ERR_GROUP);
    check_class(MPI_Group_free(&stale), MPI_ERR_GROUP);
    use(MPI_COMM_WORLD);
    MPI_Finalize();
}
