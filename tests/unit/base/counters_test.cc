// Tests the register of counters. Objects register and end, and their counts must remain.
#include "base/counters.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "base/tally.h"

namespace lanyard {
namespace {

struct Counts {
    Tally<uint64_t> eggs;
};

struct Kitchen {
    explicit Kitchen(int ovens);

    uint64_t guests() const { return guests_; }
    void received(uint64_t guests) { most_.note(guests_ = guests); }
    Peak &most() { return most_; }

    Counts counts;
    std::vector<uint64_t> heat;

private:
    Tally<uint64_t> guests_;
    Peak most_;
    CounterSource counted_[2];
};

Counters<Counts> &egg_counters() {
    static auto &only = *new Counters<Counts>(
        "kitchen",
        {{"kitchen_eggs", CounterClass::counter, Audience::user, "eggs", "eggs broken", &Counts::eggs}});
    return only;
}

Counters<Kitchen> &kitchen_counters() {
    static auto &only = *new Counters<Kitchen>("kitchen", [] {
        using enum CounterClass;
        using Row = CounterRow<Kitchen>;
        Row heat{"kitchen_heat", level, Audience::expert, "degrees", "by oven", nullptr};
        heat.value_at = [](const Kitchen &kitchen, int oven) {
            return kitchen.heat[static_cast<size_t>(oven)];
        };
        heat.places_of = [](const Kitchen &kitchen) { return static_cast<int>(kitchen.heat.size()); };
        return std::vector<Row>{
            {"kitchen_guests", level, Audience::user, "guests", "who sits at the tables", &Kitchen::guests},
            {"kitchen_guests_most", watermark, Audience::user, "guests", "the most at a time",
             &Kitchen::guests, &Kitchen::most},
            heat,
        };
    }());
    return only;
}

Kitchen::Kitchen(int ovens)
    : heat(static_cast<size_t>(ovens)), counted_{{egg_counters(), counts}, {kitchen_counters(), *this}} {}

const Counter &row_of(const CounterTable &table, std::string_view name) {
    for (const Counter &row : table.rows())
        if (row.name == name) return row;
    throw std::out_of_range("no such row");
}
const Counter &eggs() { return row_of(egg_counters(), "kitchen_eggs"); }
const Counter &guests() { return row_of(kitchen_counters(), "kitchen_guests"); }
const Counter &most_guests() { return row_of(kitchen_counters(), "kitchen_guests_most"); }
const Counter &heat() { return row_of(kitchen_counters(), "kitchen_heat"); }

TEST(Counters, ReadAsNothingWhereNothingIsRegistered) {
    uint64_t before = eggs().value();
    EXPECT_EQ(eggs().value(), before);
    EXPECT_EQ(guests().value(), 0u);
    EXPECT_EQ(heat().places_now(), 1);
    EXPECT_EQ(heat().value(0), 0u);
    EXPECT_TRUE(heat().has_places());
    EXPECT_FALSE(guests().has_places());
}

TEST(Counters, AreTheSumOfAllThatAreRegistered) {
    Kitchen one(1), other(1);
    uint64_t before = eggs().value();
    one.counts.eggs += 3;
    other.counts.eggs += 4;
    one.received(10);
    other.received(20);
    EXPECT_EQ(eggs().value() - before, 7u);
    EXPECT_EQ(guests().value(), 30u);
}

TEST(Counters, NeverGoBackWhenAnObjectEnds) {
    uint64_t before = eggs().value();
    auto one = std::make_unique<Kitchen>(1);
    one->counts.eggs += 5;
    one->received(2);
    one.reset();
    EXPECT_EQ(eggs().value() - before, 5u);
    EXPECT_EQ(guests().value(), 0u) << "a level is what there is now";
    Kitchen next(1);
    next.counts.eggs += 1;
    EXPECT_EQ(eggs().value() - before, 6u);
}

TEST(Counters, OfWatermarksBeginAnewFromTheLevel) {
    most_guests().begin_anew();
    {
        Kitchen one(1);
        one.received(9);
        one.received(4);
        EXPECT_EQ(most_guests().highest(), 9u);
        EXPECT_EQ(most_guests().begin_anew(), 9u);
        EXPECT_EQ(most_guests().highest(), 4u);
        one.received(6);
    }
    EXPECT_EQ(most_guests().highest(), 6u) << "of an object that has ended, too";
    EXPECT_EQ(most_guests().begin_anew(), 6u);
    EXPECT_EQ(most_guests().highest(), 0u);
}

TEST(Counters, OfSeveralValuesAreReadByPlace) {
    Kitchen one(3);
    one.heat = {100, 150, 200};
    EXPECT_EQ(heat().places_now(), 3);
    for (int oven = 0; oven < 3; ++oven)
        EXPECT_EQ(heat().value(oven), 100u + 50u * static_cast<uint64_t>(oven));
    EXPECT_EQ(heat().value(3), 0u) << "a caller may expect more values than exist now";
}

TEST(Counters, OfObjectsAreReadFromTheOneThatIsNamed) {
    Counters<Counts> table(
        "table", {{"table_eggs", CounterClass::counter, Audience::user, "eggs", "eggs on it", &Counts::eggs}},
        true);
    Counts one, other;
    one.eggs = 2;
    other.eggs = 8;
    EXPECT_TRUE(table.of_objects());
    EXPECT_EQ(table.rows()[0].value_of(&one), 2u);
    EXPECT_EQ(table.rows()[0].value_of(&other), 8u);
}

TEST(Counters, AreFoundByNameOnceDeclared) {
    declare_counters({&egg_counters(), &kitchen_counters()});
    declare_counters({&kitchen_counters()});
    ASSERT_EQ(counter_tables().size(), 2u) << "what was said first holds";
    EXPECT_EQ(find_counter("kitchen_eggs"), &eggs());
    EXPECT_EQ(find_counter("kitchen_heat"), &heat());
    EXPECT_EQ(find_counter("kitchen"), nullptr);
    EXPECT_STREQ(find_counter("kitchen_heat")->category, "kitchen");
}

// Objects end while another thread reads. No object may be read after its end.
TEST(Counters, AreReadByOneThreadWhileObjectsComeAndGo) {
    std::atomic<bool> over{false};
    uint64_t before = eggs().value(), seen = before;
    std::thread reader([&] {
        while (!over) {
            uint64_t now = eggs().value();
            EXPECT_GE(now, seen);
            seen = now;
        }
    });
    constexpr int rounds = 2000;
    for (int i = 0; i < rounds; ++i) {
        Kitchen one(1);
        ++one.counts.eggs;
    }
    over = true;
    reader.join();
    EXPECT_EQ(eggs().value() - before, static_cast<uint64_t>(rounds));
}

}  // namespace
}  // namespace lanyard
