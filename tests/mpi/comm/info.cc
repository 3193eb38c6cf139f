// Tests info objects before MPI is initialised, while it is active and after it is finalised. Also tests the
// contents of MPI_INFO_ENV.
#include "check.h"

namespace {

std::string get(MPI_Info info, const char *key) {
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int flag = 0, length = sizeof value;
    MPI_Info_get_string(info, key, &length, value, &flag);
    return flag ? value : "(absent)";
}

void any_time() {
    MPI_Info info, copy;
    int count, flag, length;
    char key[MPI_MAX_INFO_KEY + 1], value[64];
    MPI_Info_create(&info);
    MPI_Info_set(info, "c", "third letter");
    MPI_Info_set(info, "a", "first");
    MPI_Info_set(info, "b", "second");
    MPI_Info_set(info, "a", "first letter");
    MPI_Info_get_nkeys(info, &count);
    check_equal(count, 3);
    check(get(info, "a") == "first letter");
    check(get(info, "x") == "(absent)");
    MPI_Info_get_nthkey(info, 2, key);
    check(get(info, key) != "(absent)");

    MPI_Info_get_valuelen(info, "c", &length, &flag);
    check(flag && length == 12);
    MPI_Info_get(info, "c", 5, value, &flag);
    check(flag && std::string(value) == "third");
    length = 6;
    MPI_Info_get_string(info, "c", &length, value, &flag);
    check(flag && std::string(value) == "third" && length == 13);
    length = 0;
    MPI_Info_get_string(info, "a", &length, nullptr, &flag);
    check(flag && length == 13);

    // If the key is not found, nothing else is changed.
    length = 5;
    std::strcpy(value, "same");
    MPI_Info_get_string(info, "x", &length, value, &flag);
    check(!flag && length == 5 && std::string(value) == "same");
    MPI_Info_get_valuelen(info, "x", &length, &flag);
    check(!flag && length == 5);
    MPI_Info_get(info, "x", 5, value, &flag);
    check(!flag && std::string(value) == "same");
    length = 1;
    MPI_Info_get_string(info, "a", &length, value, &flag);
    check(flag && length == 13 && value[0] == 0);
    MPI_Info_get(info, "a", 0, value, &flag);
    check(flag && value[0] == 0);

    MPI_Info_dup(info, &copy);
    for (int n = 0; n < 3; ++n) {  // a copy has the keys in the same order
        char other[MPI_MAX_INFO_KEY + 1];
        MPI_Info_get_nthkey(info, n, key);
        MPI_Info_get_nthkey(copy, n, other);
        check(std::string(key) == other && std::string(key) == std::string(1, "cab"[n]));
    }
    MPI_Info_delete(info, "c");
    MPI_Info_get_nkeys(info, &count);
    check_equal(count, 2);
    check(get(copy, "c") == "third letter");
    MPI_Info_free(&copy);
    MPI_Info_free(&info);
    check(info == MPI_INFO_NULL);
}

void longest() {
    MPI_Info info;
    MPI_Info_create(&info);
    std::string key(MPI_MAX_INFO_KEY - 1, 'k'), value(MPI_MAX_INFO_VAL - 1, 'v');
    check_equal(MPI_Info_set(info, key.c_str(), value.c_str()), MPI_SUCCESS);
    check_equal(MPI_Info_set(info, "empty", ""), MPI_SUCCESS);
    check(get(info, key.c_str()) == value);
    check(get(info, "empty").empty());
    char room[MPI_MAX_INFO_KEY];
    MPI_Info_get_nthkey(info, 0, room);
    check(room == key);
    MPI_Info_free(&info);
}

void errors() {
    MPI_Info info;
    MPI_Info_create(&info);
    char key[8];
    int length = 3, flag;
    check_class(MPI_Info_get_string(info, "key", &length, nullptr, &flag), MPI_ERR_ARG);
    check_class(MPI_Info_get_valuelen(info, std::string(MPI_MAX_INFO_KEY, 'k').c_str(), &length, &flag),
                MPI_ERR_INFO_KEY);
    check_class(MPI_Info_get_nthkey(info, -1, key), MPI_ERR_ARG);
    check_class(MPI_Info_set(MPI_INFO_NULL, "key", "value"), MPI_ERR_INFO);
    check_class(MPI_Info_set(MPI_INFO_ENV, "key", "value"), MPI_ERR_INFO);
    check_class(MPI_Info_delete(MPI_INFO_ENV, "command"), MPI_ERR_INFO);
    check_class(MPI_Info_delete(info, "absent"), MPI_ERR_INFO_NOKEY);
    check_class(MPI_Info_set(info, "", "value"), MPI_ERR_INFO_KEY);
    check_class(MPI_Info_set(info, std::string(MPI_MAX_INFO_KEY + 1, 'k').c_str(), "value"),
                MPI_ERR_INFO_KEY);
    check_class(MPI_Info_set(info, "key", std::string(MPI_MAX_INFO_VAL + 1, 'v').c_str()),
                MPI_ERR_INFO_VALUE);
    check_class(MPI_Info_get_nthkey(info, 0, key), MPI_ERR_ARG);
    MPI_Info_free(&info);
}

constexpr const char *environment_keys[] = {
    "command", "argv", "maxprocs", "soft",         "host",
    "arch",    "wdir", "file",     "thread_level", "mpi_memory_alloc_kinds"};

// MPI_Info_create_env must return the same values that MPI_INFO_ENV has after MPI_Init.
void check_environment(MPI_Info told, const std::source_location &where = std::source_location::current()) {
    for (const char *key : environment_keys)
        check(get(told, key) == get(MPI_INFO_ENV, key),
              std::string(key) + " was " + get(told, key) + " and is " + get(MPI_INFO_ENV, key), where);
}

}  // namespace

int main(int argc, char **argv) {
    any_time();
    MPI_Info early;
    MPI_Info_create_env(argc, argv, &early);
    check(get(early, "thread_level") == "MPI_THREAD_SINGLE");
    MPI_Init(&argc, &argv);
    check_environment(early);
    MPI_Info_free(&early);
    any_time();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    errors();
    longest();
    check(get(MPI_INFO_ENV, "maxprocs") == "(absent)" ||
          std::stoi(get(MPI_INFO_ENV, "maxprocs")) >= size_of(MPI_COMM_WORLD));
    MPI_Info environment;
    MPI_Info_create_env(0, nullptr, &environment);
    check_environment(environment);
    MPI_Info_free(&environment);
    MPI_Finalize();
    any_time();
    MPI_Info_create_env(0, nullptr, &environment);
    check(get(environment, "thread_level") == "MPI_THREAD_SINGLE");
    MPI_Info_free(&environment);
}
