// Tests hints of communicators: which hints a communicator keeps, which hints a duplicate has, and that a
// call that violates an assertion reports the violation.
#include "check.h"

#include <string>
#include <vector>

namespace {

constexpr const char *assertions[] = {"mpi_assert_no_any_tag", "mpi_assert_no_any_source",
                                      "mpi_assert_exact_length", "mpi_assert_allow_overtaking"};
int rank, size;

std::string hint(MPI_Comm comm, const char *key) {
    MPI_Info info;
    char value[64] = "";
    int length = sizeof value, found = 0;
    check_equal(MPI_Comm_get_info(comm, &info), MPI_SUCCESS);
    MPI_Info_get_string(info, key, &length, value, &found);
    MPI_Info_free(&info);
    return found ? value : "";
}

void set_hint(MPI_Comm comm, const char *key, const char *value) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    check_equal(MPI_Comm_set_info(comm, info), MPI_SUCCESS);
    MPI_Info_free(&info);
}

std::string text_of(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    return text;
}

void check_error(int code, int error_class, const char *word,
                 const std::source_location &where = std::source_location::current()) {
    check_class(code, error_class, where);
    check(text_of(code).find(word) != std::string::npos, text_of(code) + " does not name " + word, where);
}

void kept() {
    MPI_Comm comm, copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (const char *key : assertions)
        check(hint(comm, key) == "false", std::string(key) + " is set from the start");
    set_hint(comm, assertions[1], "true");
    set_hint(comm, assertions[0], "true");
    set_hint(comm, assertions[3], "maybe");  // ignored, because it is neither "true" nor "false"
    set_hint(comm, "org.example.hint", "true");
    check(hint(comm, assertions[0]) == "true" && hint(comm, assertions[1]) == "true" &&
              hint(comm, assertions[2]) == "false" && hint(comm, assertions[3]) == "false" &&
              hint(comm, "org.example.hint").empty(),
          "other hints are kept than were set");
    set_hint(comm, assertions[1], "false");
    check(hint(comm, assertions[1]) == "false" && hint(comm, assertions[0]) == "true",
          "one hint was taken back");

    // A duplicate must have the hints that are passed to its constructor. It must not have hints of the
    // original.
    MPI_Comm_dup(comm, &copy);
    check(hint(copy, assertions[0]) == "false");
    MPI_Comm_free(&copy);
    MPI_Info info;
    MPI_Request request;
    MPI_Info_create(&info);
    MPI_Info_set(info, assertions[2], "true");
    MPI_Comm_dup_with_info(comm, info, &copy);
    check(hint(copy, assertions[2]) == "true" && hint(copy, assertions[0]) == "false");
    use(copy);
    MPI_Comm_free(&copy);
    MPI_Comm_idup_with_info(comm, info, &copy, &request);
    MPI_Info_free(&info);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(hint(copy, assertions[2]) == "true" && hint(copy, assertions[0]) == "false");
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
}

// Calls every constructor of communicators that has an info argument.
void of_all_constructors() {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, assertions[1], "true");
    MPI_Info_set(info, assertions[2], "true");
    auto made = [&](const char *call, int code, MPI_Comm &comm) {
        check_equal(code, MPI_SUCCESS);
        if (comm == MPI_COMM_NULL) return;
        for (int i = 0; i < 4; ++i)
            check(hint(comm, assertions[i]) == (i == 1 || i == 2 ? "true" : "false"),
                  std::string(call) + ": " + assertions[i]);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        int got = 0;
        check_error(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_RANK,
                    assertions[1]);
        MPI_Comm_free(&comm);
    };
    MPI_Comm comm = MPI_COMM_NULL, world = MPI_COMM_WORLD;
    MPI_Request request;
    made("MPI_Comm_dup_with_info", MPI_Comm_dup_with_info(world, info, &comm), comm);
    check_equal(MPI_Comm_idup_with_info(world, info, &comm, &request), MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    made("MPI_Comm_idup_with_info", MPI_SUCCESS, comm);
    made("MPI_Comm_split_type", MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, info, &comm), comm);
    MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
    made("MPI_Comm_split_type", MPI_Comm_split_type(world, MPI_COMM_TYPE_HW_GUIDED, 0, info, &comm), comm);
    MPI_Info_delete(info, "mpi_hw_resource_type");
    MPI_Info_set(info, "mpi_pset_name", "mpi://WORLD");
    made("MPI_Comm_split_type", MPI_Comm_split_type(world, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &comm),
         comm);
    MPI_Info_delete(info, "mpi_pset_name");
    made("MPI_Comm_split_type", MPI_Comm_split_type(world, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &comm), comm);
    check_equal(MPI_Comm_split_type(world, rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, info, &comm),
                MPI_SUCCESS);
    check(rank != 0 || comm == MPI_COMM_NULL);
    if (rank != 0) made("MPI_Comm_split_type", MPI_SUCCESS, comm);
    MPI_Group all, own, others;
    MPI_Comm_group(world, &all);
    made("MPI_Comm_create_from_group",
         MPI_Comm_create_from_group(all, "hints", info, MPI_ERRORS_RETURN, &comm), comm);
    if (size > 1) {
        int zero = 0;
        MPI_Group_incl(all, 1, &zero, rank == 0 ? &own : &others);
        MPI_Group_excl(all, 1, &zero, rank == 0 ? &others : &own);
        made("MPI_Intercomm_create_from_groups",
             MPI_Intercomm_create_from_groups(own, 0, others, 0, "hints", info, MPI_ERRORS_RETURN, &comm),
             comm);
        MPI_Group_free(&own);
        MPI_Group_free(&others);
    }
    MPI_Group_free(&all);
    int next = (rank + 1) % size, before = (rank + size - 1) % size, one = 1;
    made("MPI_Dist_graph_create",
         MPI_Dist_graph_create(world, 1, &rank, &one, &next, MPI_UNWEIGHTED, info, 0, &comm), comm);
    made("MPI_Dist_graph_create_adjacent",
         MPI_Dist_graph_create_adjacent(world, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, info, 1,
                                        &comm),
         comm);
    MPI_Info_free(&info);
}

void broken() {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int data[4] = {1, 2, 3, 4}, got[4] = {}, flag = 0;
    MPI_Request request;
    set_hint(comm, assertions[1], "true");
    check_error(MPI_Recv(got, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_RANK,
                assertions[1]);
    check_error(MPI_Irecv(got, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &request), MPI_ERR_RANK, assertions[1]);
    check_error(MPI_Iprobe(MPI_ANY_SOURCE, 0, comm, &flag, MPI_STATUS_IGNORE), MPI_ERR_RANK, assertions[1]);
    set_hint(comm, assertions[0], "true");
    check_error(MPI_Recv(got, 1, MPI_INT, rank, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE), MPI_ERR_TAG,
                assertions[0]);
    check_error(MPI_Recv_init(got, 1, MPI_INT, rank, MPI_ANY_TAG, comm, &request), MPI_ERR_TAG,
                assertions[0]);
    check_equal(MPI_Iprobe(rank, 0, comm, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    use(comm);

    // The first message is shorter than its receive, which violates mpi_assert_exact_length. The
    // receive must report this but get the message, and the next message must arrive as well.
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    set_hint(comm, assertions[2], "true");
    MPI_Barrier(comm);
    MPI_Request sends[2];
    MPI_Isend(data, 2, MPI_INT, right, 1, comm, &sends[0]);
    MPI_Isend(data, 4, MPI_INT, right, 1, comm, &sends[1]);
    check_error(MPI_Recv(got, 4, MPI_INT, left, 1, comm, MPI_STATUS_IGNORE), MPI_ERR_COUNT, assertions[2]);
    check(got[0] == 1 && got[1] == 2 && got[2] == 0);
    check_equal(MPI_Recv(got, 4, MPI_INT, left, 1, comm, MPI_STATUS_IGNORE), MPI_SUCCESS);
    check(got[3] == 4);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&comm);
}

// Posts many receives at once on two communicators: one with every assertion set, and one without
// assertions, whose receives use wildcards.
void matched() {
    constexpr int messages = 200;
    MPI_Comm with, without;
    MPI_Comm_dup(MPI_COMM_WORLD, &with);
    MPI_Comm_dup(MPI_COMM_WORLD, &without);
    for (const char *key : assertions) set_hint(with, key, "true");
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    std::vector<int> sent(messages), exact(messages, -1), any(messages, -1);
    std::vector<MPI_Request> requests;
    for (int i = 0; i < messages; ++i) {
        MPI_Irecv(&any[static_cast<size_t>(i)], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, without,
                  &requests.emplace_back());
        MPI_Irecv(&exact[static_cast<size_t>(i)], 1, MPI_INT, left, i, with, &requests.emplace_back());
    }
    for (int i = 0; i < messages; ++i) sent[static_cast<size_t>(i)] = i;
    for (int i = messages; i-- > 0;) {
        MPI_Isend(&sent[static_cast<size_t>(i)], 1, MPI_INT, right, i, with, &requests.emplace_back());
        MPI_Isend(&sent[static_cast<size_t>(messages - 1 - i)], 1, MPI_INT, right, i, without,
                  &requests.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    check(exact == sent, "messages went to other receives");
    // receives with wildcards must get the messages in the order in which they were sent
    check(any == sent, "messages were matched in another order");
    MPI_Comm_free(&with);
    MPI_Comm_free(&without);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    rank = rank_in(MPI_COMM_WORLD);
    size = size_of(MPI_COMM_WORLD);
    kept();
    of_all_constructors();
    broken();
    matched();
    MPI_Finalize();
    return 0;
}
