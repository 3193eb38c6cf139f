// Compares List with std::list: random operations on several lists, between which elements move. Each element
// is in two kinds of list at once.
#include "base/list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <string>
#include <vector>

#include "net/sim/random.h"
#include "sim/seeds.h"

namespace lanyard {
namespace {

struct Element {
    int number = 0;
    Hook by_color, by_age;
};
using Colors = List<Element, &Element::by_color>;
using Ages = List<Element, &Element::by_age>;

template <class Some>
std::vector<int> numbers(Some &list) {
    std::vector<int> found;
    for (Element *element = list.front(); element && found.size() < 1000; element = list.after(*element))
        found.push_back(element->number);
    return found;
}

class Wandering {
public:
    explicit Wandering(uint64_t seed) : random_(seed) {
        for (size_t i = 0; i < elements_.size(); ++i) elements_[i].number = static_cast<int>(i);
    }
    void play(int turns) {
        for (int turn = 0; turn < turns && !::testing::Test::HasFailure(); ++turn) {
            step();
            check();
        }
    }

private:
    static constexpr size_t many = 4;

    void step() {
        size_t list = random_.below(many), other = random_.below(many);
        Element &element = random_.pick(elements_);
        auto number = element.number;
        switch (random_.below(6)) {
            case 0:
            case 1:
                if (element.by_color.linked()) break;
                if (random_.chance(50)) {
                    lists_[list].push_back(element);
                    plain_[list].push_back(number);
                } else {
                    lists_[list].push_front(element);
                    plain_[list].push_front(number);
                }
                break;
            case 2:
                if (!element.by_color.linked()) break;
                element.by_color.unlink();
                for (auto &plain : plain_) plain.remove(number);
                break;
            case 3: pop(list); break;
            case 4:
                if (list == other || random_.chance(50)) break;
                lists_[list].take_all(lists_[other]);
                plain_[list].splice(plain_[list].end(), plain_[other]);
                break;
            default:
                // The element's place in the list by age does not depend on the list by color.
                if (element.by_age.linked()) {
                    element.by_age.unlink();
                    plain_ages_.remove(number);
                } else {
                    ages_.push_back(element);
                    plain_ages_.push_back(number);
                }
        }
    }
    void pop(size_t list) {
        Element *first = lists_[list].pop_front();
        ASSERT_EQ(first == nullptr, plain_[list].empty());
        if (!first) return;
        EXPECT_EQ(first->number, plain_[list].front());
        EXPECT_FALSE(first->by_color.linked());
        plain_[list].pop_front();
    }
    void check() {
        std::vector<bool> in_some(elements_.size());
        for (size_t list = 0; list < many; ++list) {
            ASSERT_EQ(numbers(lists_[list]), std::vector<int>(plain_[list].begin(), plain_[list].end()));
            ASSERT_EQ(lists_[list].empty(), plain_[list].empty());
            for (int number : plain_[list]) in_some[static_cast<size_t>(number)] = true;
        }
        ASSERT_EQ(numbers(ages_), std::vector<int>(plain_ages_.begin(), plain_ages_.end()));
        for (size_t i = 0; i < elements_.size(); ++i)
            ASSERT_EQ(elements_[i].by_color.linked(), in_some[i]) << "element " << i;
    }

    sim::Random random_;
    std::vector<Element> elements_{12};
    Colors lists_[many];
    Ages ages_;
    std::list<int> plain_[many], plain_ages_;
};

TEST(List, KeepsOrderInRandomSequences) {
    for (uint64_t seed : sim::seeds(20)) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        Wandering(seed).play(2000);
        if (HasFailure()) return;
    }
}

// Code that walks through a list may unlink the present element if it has already obtained the next one.
TEST(List, AllowsUnlinkingWhileWalking) {
    std::vector<Element> elements(7);
    Colors list;
    for (int i = 0; i < 7; ++i) {
        elements[static_cast<size_t>(i)].number = i;
        list.push_back(elements[static_cast<size_t>(i)]);
    }
    for (Element *element = list.front(); element;) {
        Element *next = list.after(*element);
        if (element->number % 3 == 0) element->by_color.unlink();
        element = next;
    }
    EXPECT_EQ(numbers(list), (std::vector<int>{1, 2, 4, 5}));
    list.push_back(elements[0]);
    EXPECT_EQ(numbers(list), (std::vector<int>{1, 2, 4, 5, 0}));
}

}  // namespace
}  // namespace lanyard
