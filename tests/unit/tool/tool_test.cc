// Tests texts, use counts, enumerations, and watermarks that share a layer's peak.
#include "tool/tool.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/peak.h"
#include "runtime/counters.h"
#include "tool/category.h"
#include "tool/cvar.h"
#include "tool/pvar.h"

namespace lanyard::tool {
namespace {

struct Declared : ::testing::Test {
    Declared() { declare_counters(); }
};

TEST(Texts, AreGivenAsFarAsThereIsRoom) {
    char place[8];
    for (int room = 0; room <= 8; ++room) {
        std::memset(place, '#', sizeof place);
        int length = room;
        give_text("lanyard", place, &length);
        EXPECT_EQ(length, 8);
        std::string wanted =
            room == 0 ? "" : std::string("lanyard").substr(0, static_cast<size_t>(room) - 1) + '\0';
        EXPECT_EQ(std::string(place, wanted.size()), wanted);
        for (size_t i = wanted.size(); i < sizeof place; ++i) EXPECT_EQ(place[i], '#') << room;
    }
    int length = 5;
    give_text("lanyard", nullptr, &length);
    EXPECT_EQ(length, 8);
    give_text("lanyard", place, nullptr);
    length = 3;
    give_text("", place, &length);
    EXPECT_EQ(length, 1);
    EXPECT_EQ(place[0], 0);
}

TEST(Use, IsCounted) {
    EXPECT_FALSE(in_use());
    Error error = end_use();
    EXPECT_EQ(error.code(), abi::t_err_not_initialized);
    error.discard();
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 3; ++i) EXPECT_FALSE(begin_use());
        for (int i = 0; i < 3; ++i) {
            EXPECT_TRUE(in_use());
            EXPECT_FALSE(end_use());
        }
        EXPECT_FALSE(in_use());
    }
}

TEST(Enumerations, AreKnownByTheirAddress) {
    const ToolEnum *made = make_enumeration("colours", {"red", "green"});
    EXPECT_TRUE(is_enumeration(made));
    EXPECT_FALSE(is_enumeration(nullptr));
    EXPECT_FALSE(is_enumeration(reinterpret_cast<const std::byte *>(made) + 8));
    EXPECT_FALSE(is_enumeration(&made));
}

TEST(Peaks, KeepTheHighestSinceTheyBeganAnew) {
    Peak peak;
    for (uint64_t value : {3, 9, 4}) peak.note(value);
    EXPECT_EQ(peak.highest(), 9u);
    EXPECT_EQ(peak.begin_anew(), 9u);
    EXPECT_EQ(peak.highest(), 0u);
    peak.raise(5);
    peak.raise(2);
    EXPECT_EQ(peak.highest(), 5u);
    peak.note(4);
    EXPECT_EQ(peak.highest(), 5u);
    peak.note(6);
    EXPECT_EQ(peak.highest(), 6u);
}

// A setting accepts the words that its row lists, and no other words.
TEST(Cvars, OfSettingsWithChoicesTakeTheseAndNoOther) {
    int with_choices = 0;
    for (const Cvar &variable : cvars()) {
        if (!variable.row || variable.row->choices.empty()) continue;
        ++with_choices;
        Settings settings;
        for (const std::string &word : variable.row->choices) {
            EXPECT_EQ(set_value(settings, *variable.row, word.c_str()), "");
            EXPECT_EQ(setting_value(settings, *variable.row), word);
        }
        EXPECT_NE(set_value(settings, *variable.row, "something else"), "");
    }
    EXPECT_EQ(with_choices, 7);
}

TEST(Cvars, AreOnePerSettingAndDescribedByIt) {
    size_t i = 0;
    for (const SettingRow &row : setting_table()) {
        ASSERT_LT(i, cvars().size());
        const Cvar &variable = cvars()[i++];
        EXPECT_EQ(variable.name, std::string("LANYARD_") + row.name);
        EXPECT_EQ(variable.sentence, row.sentence);
        EXPECT_EQ(variable.scope, row.alike ? abi::t_scope_all_eq : abi::t_scope_local);
    }
}

// Without a runtime, every variable reads as zero.
TEST_F(Declared, CountersCanBeReadWhereThereIsNothing) {
    EXPECT_FALSE(pvars().empty());
    for (const Pvar &variable : pvars()) {
        const Counter &counter = *variable.counter;
        EXPECT_EQ(counter.peak != nullptr, variable.pvar_class == abi::t_pvar_class_highwatermark)
            << variable.name;
        EXPECT_EQ(variable.enumeration != nullptr, variable.pvar_class == abi::t_pvar_class_state)
            << variable.name;
        if (variable.of_comm) continue;
        EXPECT_EQ(counter.value(counter.places_now() - 1), 0u) << variable.name;
        if (counter.peak) {
            EXPECT_EQ(counter.highest(), 0u) << variable.name;
        }
    }
}

TEST_F(Declared, CategoriesAreThoseThatTheTablesName) {
    size_t variables = 0;
    for (const Category &category : categories()) variables += category.pvars.size() + category.cvars.size();
    EXPECT_EQ(variables, pvars().size() + cvars().size());
}

}  // namespace
}  // namespace lanyard::tool
