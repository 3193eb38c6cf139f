// Tests attributes of communicators and datatypes: the current and the deprecated functions, the predefined
// attributes, and what MPI_Finalize does with attributes.
#include "check.h"

#include <vector>

namespace {

std::vector<std::string> events;
std::string extra = "extra";

void *value(long n) { return reinterpret_cast<void *>(n); }
long number(void *v) { return reinterpret_cast<long>(v); }

int copy_comm(MPI_Comm, int, void *extra_state, void *from, void *to, int *flag) {
    check(extra_state == &extra);
    events.push_back("copy " + std::to_string(number(from)));
    *static_cast<void **>(to) = value(number(from) + 1);
    *flag = number(from) != 13;
    return number(from) == 14 ? MPI_ERR_OTHER : MPI_SUCCESS;
}
int delete_comm(MPI_Comm, int, void *from, void *extra_state) {
    check(extra_state == &extra);
    events.push_back("delete " + std::to_string(number(from)));
    return number(from) == 15 ? MPI_ERR_OTHER : MPI_SUCCESS;
}
int copy_type(MPI_Datatype, int, void *, void *from, void *to, int *flag) {
    *static_cast<void **>(to) = from;
    *flag = 1;
    return MPI_SUCCESS;
}
int delete_type(MPI_Datatype, int, void *from, void *) {
    events.push_back("delete type " + std::to_string(number(from)));
    return MPI_SUCCESS;
}

long get(MPI_Comm comm, int keyval) {
    void *found = nullptr;
    int flag = 0;
    MPI_Comm_get_attr(comm, keyval, &found, &flag);
    return flag ? number(found) : -1;
}

void expect(const std::vector<std::string> &wanted,
            const std::source_location &where = std::source_location::current()) {
    std::string all;
    for (const std::string &event : events) all += event + "; ";
    check(events == wanted, "what happened: " + all, where);
    events.clear();
}

void communicators() {
    int key, other;
    MPI_Comm comm, copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(copy_comm, delete_comm, &key, &extra);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &other, nullptr);
    check_equal(get(comm, key), -1);
    MPI_Comm_set_attr(comm, key, value(1));
    MPI_Comm_set_attr(comm, other, value(40));
    MPI_Comm_set_attr(comm, key, value(2));
    expect({"delete 1"});
    MPI_Comm_dup(comm, &copy);
    expect({"copy 2"});
    check_equal(get(copy, key), 3);
    check_equal(get(copy, other), 40);
    MPI_Comm_free(&copy);
    expect({"delete 3"});
    MPI_Comm_delete_attr(comm, key);
    expect({"delete 2"});

    MPI_Comm_set_attr(comm, key, value(13));  // the copy function of `key` sets flag to 0 for this value
    MPI_Comm_dup(comm, &copy);
    check_equal(get(copy, key), -1);
    MPI_Comm_free(&copy);
    expect({"copy 13"});
    MPI_Request request;
    MPI_Comm_set_attr(comm, key, value(20));
    MPI_Comm_idup(comm, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_equal(get(copy, key), 21);
    MPI_Comm_free(&copy);
    expect({"delete 13", "copy 20", "delete 21"});

    MPI_Comm part;  // the other constructors copy no attributes
    MPI_Comm_split(comm, 0, 0, &part);
    check_equal(get(part, other), -1);
    MPI_Comm_free(&part);
    MPI_Comm_free_keyval(&key);
    check_equal(key, MPI_KEYVAL_INVALID);
    MPI_Comm_free_keyval(&other);
    MPI_Comm_free(&comm);  // the attribute keeps the key alive
    expect({"delete 20"});
}

void failures() {
    int key;
    MPI_Comm comm, copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(copy_comm, delete_comm, &key, &extra);
    MPI_Comm_set_attr(comm, key, value(14));
    check(MPI_Comm_dup(comm, &copy) != MPI_SUCCESS);
    MPI_Comm_set_attr(comm, key, value(15));
    check(MPI_Comm_delete_attr(comm, key) != MPI_SUCCESS);
    check(MPI_Comm_free(&comm) != MPI_SUCCESS);
    check(comm != MPI_COMM_NULL);
    use(comm);
    check_class(MPI_Comm_set_attr(comm, MPI_TAG_UB, value(1)), MPI_ERR_KEYVAL);
    check_class(MPI_Comm_set_attr(comm, MPI_KEYVAL_INVALID, value(1)), MPI_ERR_KEYVAL);
    events.clear();
}

void datatypes() {
    int key;
    MPI_Datatype type, copy;
    void *found;
    int flag;
    MPI_Type_create_keyval(copy_type, delete_type, &key, nullptr);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_set_attr(type, key, value(5));
    MPI_Type_dup(type, &copy);
    MPI_Type_get_attr(copy, key, &found, &flag);
    check(flag && number(found) == 5);
    MPI_Type_delete_attr(copy, key);
    expect({"delete type 5"});
    MPI_Type_get_attr(copy, key, &found, &flag);
    check(!flag);
    MPI_Type_free(&copy);
    MPI_Type_free(&type);
    expect({"delete type 5"});
    MPI_Type_free_keyval(&key);
    check_equal(key, MPI_KEYVAL_INVALID);
}

// Tests a key that is freed while attributes use it. With the saved value of the key, the program can still
// read and delete these attributes but cannot set any.
template <class Object, auto set, auto get, auto remove>
void by_a_freed_key(Object of, Object other, int key, void (*free_key)(int)) {
    void *found = nullptr;
    int flag = 0;
    events.clear();
    check_equal(set(of, key, value(30)), MPI_SUCCESS);
    check_equal(set(other, key, value(31)), MPI_SUCCESS);
    free_key(key);
    check_class(set(of, key, value(32)), MPI_ERR_KEYVAL);
    check_equal(get(of, key, &found, &flag), MPI_SUCCESS);
    check(flag && number(found) == 30, "the attribute is still there");
    check_equal(remove(of, key), MPI_SUCCESS);
    check_equal(get(of, key, &found, &flag), MPI_SUCCESS);
    check(!flag, "the attribute is gone");
    check_class(remove(of, key), MPI_ERR_KEYVAL);
    check_equal(remove(other, key), MPI_SUCCESS);
    check_equal(static_cast<int>(events.size()), 2);
    events.clear();
    check_class(get(of, key, &found, &flag), MPI_ERR_KEYVAL);  // the key ends with its last attribute
    check_class(remove(other, key), MPI_ERR_KEYVAL);
}

void freed_keys() {
    int key;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (MPI_Comm of : {comm, MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(of, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_comm, &key, &extra);
    by_a_freed_key<MPI_Comm, MPI_Comm_set_attr, MPI_Comm_get_attr, MPI_Comm_delete_attr>(
        comm, MPI_COMM_WORLD, key, [](int saved) { MPI_Comm_free_keyval(&saved); });
    MPI_Keyval_create(MPI_NULL_COPY_FN, delete_comm, &key, &extra);  // the deprecated functions
    by_a_freed_key<MPI_Comm, MPI_Attr_put, MPI_Attr_get, MPI_Attr_delete>(
        comm, MPI_COMM_SELF, key, [](int saved) { MPI_Keyval_free(&saved); });
    // The copy of an object has the attribute as well.
    MPI_Comm copy;
    void *found = nullptr;
    int flag = 0;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
    int saved = key;
    MPI_Comm_set_attr(comm, key, value(33));
    MPI_Comm_free_keyval(&key);
    MPI_Comm_dup(comm, &copy);
    check_equal(MPI_Comm_delete_attr(comm, saved), MPI_SUCCESS);
    check_equal(MPI_Comm_get_attr(copy, saved, &found, &flag), MPI_SUCCESS);
    check(flag && number(found) == 33, "the copy has kept its attribute");
    MPI_Comm_free(&copy);
    check_class(MPI_Comm_get_attr(comm, saved, &found, &flag), MPI_ERR_KEYVAL);
    MPI_Comm_free(&comm);
    MPI_Datatype type;
    MPI_Type_dup(MPI_INT, &type);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_type, &key, nullptr);
    by_a_freed_key<MPI_Datatype, MPI_Type_set_attr, MPI_Type_get_attr, MPI_Type_delete_attr>(
        type, MPI_INT, key, [](int of_types) { MPI_Type_free_keyval(&of_types); });
    MPI_Type_free(&type);
    for (MPI_Comm of : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(of, MPI_ERRORS_ARE_FATAL);
}

// Some libraries free a key in its own delete function, which is called for each object with the attribute.
template <class Object, auto free_key>
int delete_with_key(Object, int keyval, void *from, void *) {
    events.push_back("delete " + std::to_string(number(from)));
    return free_key(&keyval);
}

template <class Object, auto set, auto remove, auto free_key>
void freed_again(Object of, Object other, int key) {
    int saved = key;
    check_equal(set(of, key, value(50)), MPI_SUCCESS);
    check_equal(set(other, key, value(51)), MPI_SUCCESS);
    check_equal(remove(of, key), MPI_SUCCESS);  // frees the key
    check_equal(free_key(&key), MPI_SUCCESS);
    check_equal(key, MPI_KEYVAL_INVALID);
    check_class(set(of, saved, value(52)), MPI_ERR_KEYVAL);
    key = saved;
    check_equal(remove(other, saved), MPI_SUCCESS);
    expect({"delete 50", "delete 51"});
    check_class(free_key(&key), MPI_ERR_KEYVAL);  // the key has ended with its last attribute
}

void keys_freed_again() {
    int key;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    for (MPI_Comm of : {comm, MPI_COMM_SELF}) MPI_Comm_set_errhandler(of, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_with_key<MPI_Comm, MPI_Comm_free_keyval>, &key,
                           nullptr);
    freed_again<MPI_Comm, MPI_Comm_set_attr, MPI_Comm_delete_attr, MPI_Comm_free_keyval>(comm, MPI_COMM_SELF,
                                                                                         key);
    MPI_Keyval_create(MPI_NULL_COPY_FN, delete_with_key<MPI_Comm, MPI_Keyval_free>, &key, nullptr);
    freed_again<MPI_Comm, MPI_Attr_put, MPI_Attr_delete, MPI_Keyval_free>(comm, MPI_COMM_SELF, key);
    MPI_Comm_free(&comm);
    MPI_Datatype type;
    MPI_Type_dup(MPI_INT, &type);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_with_key<MPI_Datatype, MPI_Type_free_keyval>, &key,
                           nullptr);
    freed_again<MPI_Datatype, MPI_Type_set_attr, MPI_Type_delete_attr, MPI_Type_free_keyval>(type, MPI_INT,
                                                                                             key);
    MPI_Type_free(&type);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

void predefined() {
    for (int key : {MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_LASTUSEDCODE}) {
        int *found = nullptr, flag = 0;
        MPI_Comm_get_attr(MPI_COMM_WORLD, key, &found, &flag);
        check(flag && found, "a predefined attribute is missing");
        if (key == MPI_TAG_UB) check(*found >= 32767);
        if (key == MPI_LASTUSEDCODE) check(*found >= MPI_ERR_LASTCODE);
        if (key == MPI_WTIME_IS_GLOBAL) check(*found == 0 || *found == 1);
    }
    int *size = nullptr, flag = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &size, &flag);
    if (flag) check(*size >= size_of(MPI_COMM_WORLD));
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &size, &flag);
    if (flag) check(*size >= 0);
}

int rank_at_end = -1;
int at_end(MPI_Comm, int, void *from, void *) {
    int finalized = 1;
    MPI_Finalized(&finalized);
    check(!finalized, "MPI still works while the attributes of MPI_COMM_SELF are deleted");
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_equal(rank, rank_at_end);
    events.push_back("end " + std::to_string(number(from)));
    return MPI_SUCCESS;
}

void at_finalize() {
    for (long n : {1, 2, 3}) {
        int key;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, nullptr);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, value(n));
    }
    rank_at_end = rank_in(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    communicators();
    failures();
    datatypes();
    freed_keys();
    keys_freed_again();
    predefined();
    at_finalize();
    MPI_Finalize();
    std::string all;
    for (const std::string &event : events) all += event + "; ";
    if (all == "end 3; end 2; end 1; ") return 0;
    std::fprintf(stderr, "at MPI_Finalize: %s\n", all.c_str());
    return 1;
}
