// Runs its arguments as a command. The kernel refuses to create threads for this command (refuse.h).
#include <unistd.h>

#include "refuse.h"

int main(int count, char **words) {
    (void)count;
    refuse_threads();
    execv(words[1], words + 1);
    perror(words[1]);
    return 95;
}
