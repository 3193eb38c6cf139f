// Tests the words of the command for a remote shell, and the explanation if no agent answers.
#include "launch/remote_shell.h"

#include <gtest/gtest.h>

namespace lanyard::launch {
namespace {

using Words = std::vector<std::string>;

TEST(RemoteShell, Words) {
    Plan plan;
    EXPECT_EQ(
        remote_shell_words(plan, "b", "/opt/l/bin/mpirun"),
        (Words{"ssh", "-x", "-T", "-o", "BatchMode=yes", "b", "exec", "'/opt/l/bin/mpirun'", "--agent"}));
    plan.remote_shell = "/my/shell  -p 22";
    EXPECT_EQ(remote_shell_words(plan, "b", "/it's"),
              (Words{"/my/shell", "-p", "22", "b", "exec", "'/it'\\''s'", "--agent"}));
}

std::string told(int status, bool running, const std::string &said) {
    return explain({"b", "ssh", "/l/bin/mpirun", status, running, said});
}

TEST(RemoteShell, Explanations) {
    constexpr int ssh_failed = 255 << 8;
    EXPECT_TRUE(told(ssh_failed, false, "me@b: Permission denied (publickey,password).\r\n")
                    .starts_with("host b refuses the login"));
    EXPECT_TRUE(
        told(ssh_failed, false, "Host key verification failed.\n").starts_with("host b is not known to ssh"));
    EXPECT_TRUE(told(ssh_failed, false, "ssh: Could not resolve hostname b: Name or service not known\n")
                    .starts_with("host b is not known by"));
    EXPECT_TRUE(told(ssh_failed, false, "ssh: connect to host b port 22: Connection refused\n")
                    .starts_with("host b cannot be reached"));
    EXPECT_TRUE(told(ssh_failed, false, "ssh: connect to host b port 22: No route to host\n")
                    .starts_with("host b cannot be reached"));
    EXPECT_TRUE(told(127 << 8, false, "bash: line 1: /l/bin/mpirun: No such file or directory\n")
                    .starts_with("host b has no /l/bin/mpirun"));
    EXPECT_TRUE(told(1 << 8, false, "exec: /l/bin/mpirun: Command not found.\n")
                    .starts_with("host b has no /l/bin/mpirun"));
    EXPECT_TRUE(told(126 << 8, false, "sh: 1: exec: /l/bin/mpirun: Permission denied\n")
                    .starts_with("host b: /l/bin/mpirun cannot be"));
    EXPECT_TRUE(told(0, true, "welcome\nme@b's password: ")
                    .starts_with("host b: ssh asks for what nobody can type here"));
    EXPECT_TRUE(
        told(3 << 8, false, "")
            .starts_with(
                "host b: Lanyard's agent did not start: ssh ended with exit code 3, and it said nothing"));
    EXPECT_NE(told(9, false, "x").find("was killed by signal 9"), std::string::npos);
}

TEST(RemoteShell, Questions) {
    EXPECT_TRUE(asks_for_secret("Password:"));
    EXPECT_TRUE(asks_for_secret("hello\nEnter passphrase for key '/k': "));
    EXPECT_TRUE(asks_for_secret("Are you sure you want to continue connecting (yes/no/[fingerprint])? "));
    EXPECT_FALSE(asks_for_secret("Your password expires soon: change it\n"));
    EXPECT_FALSE(asks_for_secret("welcome: "));
}

TEST(RemoteShell, QuotationsAreOneShortLine) {
    EXPECT_EQ(last_words("  a\r\n\tb \"c\"\x1b[0m\n\n"), "a b 'c' [0m");
    EXPECT_EQ(last_words(" \n"), "");
    EXPECT_EQ(last_words(std::string(1000, 'x')).size(), 303u);
}

}  // namespace
}  // namespace lanyard::launch
