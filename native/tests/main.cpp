// Runs the tests named on the command line, or all of them.
#include <cstdio>

#include "tests/test.hpp"

int main(int n_arguments, char **arguments) {
    for (int i = 1; i < n_arguments; ++i) {
        const auto found = rankwright::tests().find(arguments[i]);
        if (found == rankwright::tests().end()) {
            std::fprintf(stderr, "there is no test named %s\n", arguments[i]);
            return 1;
        }
        found->second();
    }
    if (n_arguments > 1) return 0;
    for (const auto &[name, body] : rankwright::tests()) {
        body();
        std::printf("%s passed\n", name.c_str());
    }
}
