// Tests when a program that leaves MPI is expected to return at once.
#include "engine/absences.h"

#include <gtest/gtest.h>

namespace lanyard {
namespace {

void pass(uint64_t ns) {
    uint64_t end_ns = clock_ns() + ns;
    while (clock_ns() < end_ns) {
    }
}

void spell(Absences &absences, uint64_t away_ns) {
    absences.begin();
    pass(away_ns);
    absences.end();
    absences.end_spell();
}

// The thread may lose its processor during a spell (absences.h), and the spell is then not brief. So brief
// spells are tried again until enough of them follow each other.
bool become_brief(Absences &absences) {
    for (int spells = 0; spells < 10'000 && absences.are_long(); ++spells) spell(absences, 100);
    return !absences.are_long();
}

TEST(Absences, AreBriefAfterSeveralBriefSpells) {
    Absences absences;
    for (int spells = 0; spells < 7; ++spells) {
        spell(absences, 100);
        EXPECT_TRUE(absences.are_long());
    }
    EXPECT_TRUE(become_brief(absences));
    spell(absences, 2 * Absences::brief_ns);
    EXPECT_TRUE(absences.are_long());
}

TEST(Absences, CountTheLongestOfASpell) {
    Absences absences;
    ASSERT_TRUE(become_brief(absences));
    absences.begin();
    pass(2 * Absences::brief_ns);
    absences.end();
    absences.begin();
    absences.end();
    EXPECT_FALSE(absences.are_long()) << "the spell is not over";
    absences.end_spell();
    EXPECT_TRUE(absences.are_long());
}

TEST(Absences, LastUntilTheProgramIsBack) {
    Absences absences;
    EXPECT_FALSE(absences.lasts(0));
    EXPECT_FALSE(absences.lasts());
    absences.begin();
    pass(1'000'000);
    EXPECT_TRUE(absences.lasts());
    EXPECT_TRUE(absences.lasts(1'000'000));
    EXPECT_FALSE(absences.lasts(1'000'000'000'000));
    absences.end();
    EXPECT_FALSE(absences.lasts(0));
    EXPECT_FALSE(absences.lasts());
}

}  // namespace
}  // namespace lanyard
