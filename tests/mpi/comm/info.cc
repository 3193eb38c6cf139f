// Info objects, before, while and after MPI is active, and what MPI_INFO_ENV says.
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

    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "c");
    MPI_Info_get_nkeys(info, &count);
    check_equal(count, 2);
    check(get(copy, "c") == "third letter");
    MPI_Info_free(&copy);
    MPI_Info_free(&info);
    check(info == MPI_INFO_NULL);
}

void errors() {
    MPI_Info info;
    MPI_Info_create(&info);
    char key[8];
    check_class(MPI_Info_delete(info, "absent"), MPI_ERR_INFO_NOKEY);
    check_class(MPI_Info_set(info, "", "value"), MPI_ERR_INFO_KEY);
    check_class(MPI_Info_set(info, std::string(MPI_MAX_INFO_KEY + 1, 'k').c_str(), "value"), MPI_ERR_INFO_KEY);
    check_class(MPI_Info_set(info, "key", std::string(MPI_MAX_INFO_VAL + 1, 'v').c_str()), MPI_ERR_INFO_VALUE);
    check_class(MPI_Info_get_nthkey(info, 0, key), MPI_ERR_ARG);
    MPI_Info_free(&info);
}

}  // namespace

int main(int argc, char **argv) {
    any_time();
    MPI_Init(&argc, &argv);
    any_time();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    errors();
    check(get(MPI_INFO_ENV, "maxprocs") == "(absent)" || std::stoi(get(MPI_INFO_ENV, "maxprocs")) >= size_of(MPI_COMM_WORLD));
    MPI_Info environment;
    MPI_Info_create_env(0, nullptr, &environment);
    for (const char *key : {"command", "host", "arch", "wdir", "thread_level"}) check(get(environment, key) == get(MPI_INFO_ENV, key));
    MPI_Info_free(&environment);
    MPI_Finalize();
    any_time();
}
