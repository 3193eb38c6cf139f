"""Tests that tools/class_sizes.py counts what a class declares, and nothing else, and the names that a header
offers."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import c_text  # noqa: E402
import class_sizes  # noqa: E402


def sizes(text):
    found = class_sizes.class_sizes(c_text.without_preprocessor(c_text.stripped(text)))
    return {size.name: (size.methods, size.members) for size in found}


# What one class declares, the number of its methods, the number of its data members.
DECLARATIONS = [
    ("int a;", 0, 1),
    ("int a = 0, b{1}, c;", 0, 3),
    ("std::map<int, int> a; std::pair<int, long> b, c;", 0, 3),
    ("int a[4] = {1, 2, 3, 4}; alignas(64) std::atomic<uint32_t> b{0};", 0, 2),
    ("uint32_t a : 26; uint32_t b : 6;", 0, 2),
    ("void (*call)(int, const void *) = nullptr; int (Other::*method)(int); int (&array)[4];", 0, 3),
    (
        "std::function<void(int, int)> call; std::function<int(const A &)> other = [](const A &a) { return "
        "a.b(); };", 0, 2),
    ("const char *text = R\"(int f(); int g();)\"; char brace = \'{\';", 0, 2),
    ("static constexpr int limit = 3; static int shared; inline static int made = f(1);", 0, 0),
    (
        "using Count = int; typedef int Other; friend class A; static_assert(f(1) > 0); enum class E { a, b "
        "}; struct Forward;", 0, 0),
    ("int f(); int g() const { return a(1); } static int h(int a = 1); virtual void i() = 0;", 4, 0),
    ("template <class T, class U = std::map<int, T>> void f(T a, U b) { if (a < b) g(); }", 1, 0),
    ("[[gnu::always_inline]] bool f() const noexcept { return true; } auto g() -> std::pair<int, int>;",
     2, 0),
    ("explicit S(int a) : a_(a), b_{a}, c_(std::vector<int>{1, 2}) { f(); } ~S() { g(); }", 2, 0),
    ("S() = default; S(const S &) = delete; S &operator=(const S &) = delete; virtual ~S() = default;", 0, 0),
    (
        "bool operator<(const S &other) const; S &operator=(int a) { return *this; } operator bool() const; "
        "int operator()(int a);", 4, 0),
    ("public: int f(); private: int g(); protected: int a;", 2, 1),
    ("int f() { struct Local { int a, b, c; }; return 0; }", 1, 0),
    ("union { int a; long b; }; struct { int c; } d;", 0, 4),
    ("#define SETTING(type, name) type name;\n#if X\n#endif\nint a;", 0, 1),
    ("// int a;\n/* int f(); */ int b;  // { {", 0, 1),
]


@pytest.mark.parametrize(("text", "methods", "members"), DECLARATIONS,
                         ids=[text[:30] for text, *_ in DECLARATIONS])
def test_declarations_are_told_apart(text, methods, members):
    assert (
        sizes(f"namespace n {{\nclass S final : public A<int, 2>, private B {{\n{text}\n}};\n}}\n")["S"] ==
        (methods, members))


def test_nested_classes_count_for_themselves():
    text = (
        "class A {\n    struct B {\n        int a;\n        int f();\n        class C { int x, y; };\n    "
        "};\n"
        "    struct D { int z; } d, e;\n    B b;\n};\n")
    assert sizes(text) == {"A": (0, 3), "A::B": (1, 1), "A::B::C": (0, 2), "A::D": (0, 1)}


def test_what_is_outside_of_classes_is_nobodys():
    text = (
        "int a;\nstatic int f(int b) { return b; }\nint A::g() { return 1; }\nextern \"C\" {\nint "
        "h();\n}\nstruct A::Inner : B { int c; };\n"
        "namespace n::m { template <class T> struct S { T t; }; }\nenum class E : int { one, two };\nunion U "
        "{ int i; float f; };\n")
    assert sizes(text) == {"A::Inner": (0, 1), "S": (0, 1), "U": (0, 2)}


def test_the_line_is_where_the_class_begins():
    assert [size.line for size in class_sizes.class_sizes("\n\nclass A {\n};\nclass B {\n};\n")] == [3, 5]


# a header, the number of names that it offers
OFFERED = [
    ("int f(); int g(int a = h(1));\ninline int i() { return 1; }\nconstexpr int a = 1, b = 2;\n", 5),
    ("extern int a;\nextern \"C\" int f();\nextern template struct A<int>;\nextern \"C\" { int g(); }\n", 3),
    ("namespace n { template <class T> T f(T a) { return a; } constexpr int table[] = {1, 2}; }\n", 2),
    ("class A {\n    int f();\npublic:\n    A(int a);\n    A(const A &) = delete;\n    static int g();\n"
     "    static int s;\n    int h, i;\nprivate:\n    int j;\n    struct B { int k; };\n};\n", 5),
    ("struct A {\n    struct B { int f(); int g; };\n    int h;\n"
     "protected:\n    struct C {\n    public:\n        int i;\n    };\n};\n", 3),
    ("class A;\nstruct B;\nenum class E { one, two };\nusing C = int;\n"
     "static_assert(sizeof(int) == 4);\n", 0),
    ("class A {\npublic:\n    int f();\n};\ninline int A::f() { return 1; }\n", 1),
]


@pytest.mark.parametrize(("text", "names"), OFFERED, ids=[text[:30] for text, _ in OFFERED])
def test_names_that_a_header_offers(text, names):
    assert class_sizes.names_offered(c_text.without_preprocessor(c_text.stripped(text))) == names
