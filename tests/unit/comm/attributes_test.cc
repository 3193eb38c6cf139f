// Tests attributes: the life of keys and values, copy and delete functions, order, failures, and functions
// that use attributes themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/abi_constants.h"
#include "comm/attributes.h"

namespace lanyard {
namespace {

struct Holder {
    Attributes *attributes = nullptr;
};

std::vector<std::string> events;
int refuse_deleting = 0, refuse_copying = 0;  // the value of the attribute whose function fails

long number(void *value) { return static_cast<long>(reinterpret_cast<intptr_t>(value)); }
void *value(long n) { return reinterpret_cast<void *>(n); }

Error copy_recorded(const Keyval &, void *, void *from, void *&to, bool &wanted) {
    events.push_back("copy " + std::to_string(number(from)));
    to = value(number(from) + 100);
    wanted = number(from) != 13;
    return number(from) == refuse_copying ? Error(99, "the copy function refuses") : Error();
}
Error delete_recorded(const Keyval &, void *, void *from) {
    events.push_back("delete " + std::to_string(number(from)));
    return number(from) == refuse_deleting ? Error(98, "the delete function refuses") : Error();
}

struct AttributeTest : ::testing::Test {
    Holder object;
    int key(ObjectKind kind = ObjectKind::comm) {
        Keyval described;
        described.kind = kind;
        described.copy = copy_recorded;
        described.remove = delete_recorded;
        return create_keyval(described);
    }
    Error set(int keyval, long n) {
        return set_attribute(object.attributes, ObjectKind::comm, &object, keyval, value(n));
    }
    long get(const Holder &of, int keyval) {
        void *found_value = nullptr;
        bool found = false;
        EXPECT_FALSE(get_attribute(of.attributes, ObjectKind::comm, keyval, found_value, found));
        return found ? number(found_value) : -1;
    }
    AttributeTest() {
        events.clear();
        refuse_deleting = refuse_copying = 0;
    }
    ~AttributeTest() override {
        refuse_deleting = 0;
        EXPECT_FALSE(delete_attributes(object.attributes, &object));
    }
    static int code(Error error) { return error.take().code; }
};

TEST_F(AttributeTest, SettingAgainDeletesTheOldValue) {
    int k = key();
    EXPECT_EQ(get(object, k), -1);
    ASSERT_FALSE(set(k, 1));
    ASSERT_FALSE(set(k, 2));
    EXPECT_EQ(get(object, k), 2);
    EXPECT_EQ(events, std::vector<std::string>{"delete 1"});
}

TEST_F(AttributeTest, TheNewestGoesFirst) {
    for (long n : {1, 2, 3}) ASSERT_FALSE(set(key(), n));
    ASSERT_FALSE(delete_attributes(object.attributes, &object));
    EXPECT_EQ(events, (std::vector<std::string>{"delete 3", "delete 2", "delete 1"}));
    EXPECT_EQ(object.attributes, nullptr);
}

TEST_F(AttributeTest, CopiesWhatTheFunctionsWant) {
    int a = key(), b = key(), thirteen = key();
    ASSERT_FALSE(set(a, 1));
    ASSERT_FALSE(set(thirteen, 13));
    ASSERT_FALSE(set(b, 2));
    Keyval as_is, never;
    as_is.copies_as_is = true;
    int kept = create_keyval(as_is), dropped = create_keyval(never);
    ASSERT_FALSE(set(kept, 5));
    ASSERT_FALSE(set(dropped, 6));
    Holder copy;
    ASSERT_FALSE(copy_attributes(object.attributes, &object, copy.attributes, &copy));
    EXPECT_EQ(get(copy, a), 101);
    EXPECT_EQ(get(copy, b), 102);
    EXPECT_EQ(get(copy, thirteen), -1);
    EXPECT_EQ(get(copy, kept), 5);
    EXPECT_EQ(get(copy, dropped), -1);
    ASSERT_FALSE(delete_attributes(copy.attributes, &copy));
    EXPECT_EQ(get(object, a), 1);
}

TEST_F(AttributeTest, AFailedCopyLeavesNothing) {
    ASSERT_FALSE(set(key(), 1));
    ASSERT_FALSE(set(key(), 2));
    ASSERT_FALSE(set(key(), 3));
    refuse_copying = 2;
    Holder copy;
    EXPECT_EQ(code(copy_attributes(object.attributes, &object, copy.attributes, &copy)), 99);
    EXPECT_EQ(copy.attributes, nullptr);
    EXPECT_EQ(events, (std::vector<std::string>{"copy 1", "copy 2", "delete 101"}));
}

TEST_F(AttributeTest, ARefusedDeleteKeepsTheValue) {
    int k = key();
    ASSERT_FALSE(set(k, 4));
    refuse_deleting = 4;
    EXPECT_EQ(code(delete_attribute(object.attributes, ObjectKind::comm, &object, k)), 98);
    EXPECT_EQ(get(object, k), 4);
    EXPECT_EQ(code(delete_attributes(object.attributes, &object)), 98);
    EXPECT_EQ(get(object, k), 4);
    EXPECT_EQ(code(set(k, 5)), 98);
    EXPECT_EQ(get(object, k), 4);
}

TEST_F(AttributeTest, AFreedKeyLivesWhileItIsUsed) {
    int k = key();
    ASSERT_FALSE(set(k, 7));
    ASSERT_FALSE(free_keyval(k, ObjectKind::comm));
    EXPECT_EQ(code(set(k, 8)), static_cast<int>(ErrorClass::keyval));
    ASSERT_FALSE(delete_attributes(object.attributes, &object));
    EXPECT_EQ(events, std::vector<std::string>{"delete 7"});
}

TEST_F(AttributeTest, AKeyInUseCanBeFreedAgain) {
    int k = key();
    size_t in_use = keyvals_in_use();
    ASSERT_FALSE(set(k, 7));
    for (int time = 0; time < 3; ++time) ASSERT_FALSE(free_keyval(k, ObjectKind::comm));
    EXPECT_EQ(keyvals_in_use(), in_use - 1);
    EXPECT_EQ(get(object, k), 7);
    EXPECT_EQ(code(free_keyval(k, ObjectKind::type)), static_cast<int>(ErrorClass::keyval));
    ASSERT_FALSE(delete_attributes(object.attributes, &object));
    EXPECT_EQ(code(free_keyval(k, ObjectKind::comm)), static_cast<int>(ErrorClass::keyval));
}

TEST_F(AttributeTest, AttributesOfAFreedKeyCanBeReadAndDeleted) {
    int k = key();
    Holder other;
    size_t in_use = keyvals_in_use();
    ASSERT_FALSE(set(k, 7));
    ASSERT_FALSE(set_attribute(other.attributes, ObjectKind::comm, &other, k, value(8)));
    ASSERT_FALSE(free_keyval(k, ObjectKind::comm));
    EXPECT_EQ(keyvals_in_use(), in_use - 1);
    EXPECT_EQ(get(object, k), 7);
    EXPECT_FALSE(delete_attribute(object.attributes, ObjectKind::comm, &object, k));
    EXPECT_EQ(get(object, k), -1);
    EXPECT_FALSE(delete_attribute(other.attributes, ObjectKind::comm, &other, k));
    EXPECT_EQ(events, (std::vector<std::string>{"delete 7", "delete 8"}));
    EXPECT_EQ(code(delete_attribute(other.attributes, ObjectKind::comm, &other, k)),
              static_cast<int>(ErrorClass::keyval));
    void *found_value = nullptr;
    bool found = false;
    EXPECT_EQ(code(get_attribute(object.attributes, ObjectKind::comm, k, found_value, found)),
              static_cast<int>(ErrorClass::keyval));
    ASSERT_FALSE(delete_attributes(other.attributes, &other));
}

TEST_F(AttributeTest, KeysAreForOneKindOfObject) {
    EXPECT_EQ(code(set(key(ObjectKind::type), 1)), static_cast<int>(ErrorClass::keyval));
    EXPECT_EQ(code(set(abi::keyval_invalid, 1)), static_cast<int>(ErrorClass::keyval));
    EXPECT_EQ(code(set(abi::tag_ub, 1)), static_cast<int>(ErrorClass::keyval));
    EXPECT_EQ(code(set(12345, 1)), static_cast<int>(ErrorClass::keyval));
    int k = key();
    EXPECT_EQ(code(delete_attribute(object.attributes, ObjectKind::comm, &object, k)),
              static_cast<int>(ErrorClass::keyval));
}

// A delete function that deletes another attribute and sets a third one, as libraries do.
int second_key, third_key;
Error delete_and_meddle(const Keyval &, void *of, void *from) {
    auto &object = *static_cast<Holder *>(of);
    delete_recorded({}, of, from).discard();
    delete_attribute(object.attributes, ObjectKind::comm, of, second_key).discard();
    return set_attribute(object.attributes, ObjectKind::comm, of, third_key, value(30));
}

TEST_F(AttributeTest, FunctionsMayUseAttributesThemselves) {
    second_key = key();
    third_key = key();
    Keyval meddling;
    meddling.remove = delete_and_meddle;
    int first_key = create_keyval(meddling);
    ASSERT_FALSE(set(second_key, 20));
    ASSERT_FALSE(set(first_key, 10));
    ASSERT_FALSE(delete_attributes(object.attributes, &object));
    EXPECT_EQ(events, (std::vector<std::string>{"delete 10", "delete 20", "delete 30"}));
}

}  // namespace
}  // namespace lanyard
