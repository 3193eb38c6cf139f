// Compares the table of settings with the members that it describes.
#include "config/settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace lanyard {
namespace {

const SettingRow &row_of(const std::string &name) {
    const std::vector<SettingRow> &table = setting_table();
    auto row =
        std::find_if(table.begin(), table.end(), [&](const SettingRow &each) { return each.name == name; });
    if (row == table.end()) throw std::out_of_range(name);
    return *row;
}

TEST(Settings, AreNamedLikeTheirMembersOnceEach) {
    std::set<std::string> names;
    for (const SettingRow &row : setting_table()) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_FALSE(row.sentence.empty()) << row.name;
        EXPECT_TRUE(std::all_of(row.name.begin(), row.name.end(), [](char letter) {
            return letter == '_' || (letter >= 'A' && letter <= 'Z');
        }));
    }
    EXPECT_EQ(names.size(), 29u);
}

TEST(Settings, TypeIsThatOfTheMember) {
    EXPECT_EQ(row_of("PATHS").type, SettingType::text);
    EXPECT_EQ(row_of("PATHS").text, &Settings::paths);
    EXPECT_EQ(row_of("CMA").type, SettingType::boolean);
    EXPECT_EQ(row_of("CMA").boolean, &Settings::cma);
    EXPECT_EQ(row_of("PEER_TIMEOUT").type, SettingType::integer);
    EXPECT_EQ(row_of("PEER_TIMEOUT").integer, &Settings::peer_timeout);
}

TEST(Settings, DefaultsAreAllowed) {
    const Settings usual;
    for (const SettingRow &row : setting_table()) {
        Settings settings;
        EXPECT_EQ(set_value(settings, row, setting_value(usual, row).c_str()), "") << row.name;
        EXPECT_EQ(setting_value(settings, row), setting_value(usual, row)) << row.name;
    }
    EXPECT_EQ(usual.paths, "self,shm,tcp");
    EXPECT_EQ(usual.first_bytes, 256 * 1024);
    EXPECT_TRUE(usual.cma);
}

TEST(Settings, OfNumbersTakeTheirRangeAndNoMore) {
    for (const SettingRow &row : setting_table()) {
        if (row.type != SettingType::integer) continue;
        Settings settings;
        for (int64_t good : {row.minimum, row.maximum})
            EXPECT_EQ(set_value(settings, row, std::to_string(good).c_str()), "") << row.name;
        for (int64_t bad : {row.minimum - 1, row.maximum + 1})
            EXPECT_NE(set_value(settings, row, std::to_string(bad).c_str()), "") << row.name;
        EXPECT_EQ(settings.*row.integer, row.maximum) << row.name;
        EXPECT_LT(row.minimum, row.maximum) << row.name;
    }
}

TEST(Settings, AreReadFromTheEnvironment) {
    char spin[] = "LANYARD_SPIN_US=7", copies[] = "LANYARD_COPIES=twice",
         empty[] = "LANYARD_CMA=", slip[] = "LANYARD_CHEKC=on";
    char *environment[] = {spin, copies, empty, slip, nullptr};
    Settings settings;
    std::vector<std::string> warnings;
    EXPECT_FALSE(read_settings(environment, settings, warnings));
    EXPECT_EQ(settings.spin_us, 7);
    EXPECT_EQ(settings.copies, "twice");
    EXPECT_TRUE(settings.cma);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("did you mean LANYARD_CHECK?"), std::string::npos) << warnings[0];
}

}  // namespace
}  // namespace lanyard
