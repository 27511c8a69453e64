// Runs a fuzz target without libFuzzer: replays the files named on the command line, or, without any, mutations of the
// target's own seeds from a fixed random stream. With libFuzzer (clang++ -fsanitize=fuzzer -DRANKWRIGHT_LIBFUZZER) it
// is empty, and libFuzzer calls the target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

namespace rankwright::fuzz {

using Seeds = std::vector<std::string>;

// One to four small changes: a byte set, a piece dropped, doubled, or taken from another seed.
inline std::string mutate(std::string text, const Seeds &seeds, std::string_view alphabet, std::mt19937_64 &random) {
    const auto below = [&](std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random() % n); };
    for (std::size_t change = 0, n_changes = 1 + below(4); change < n_changes; ++change) {
        const std::size_t at = below(text.size() + 1), length = below(12);
        switch (below(5)) {
        case 0:
            if (at < text.size()) text[at] = alphabet[below(alphabet.size())];
            break;
        case 1:
            text.insert(at, 1, static_cast<char>(below(16) == 0 ? random() : alphabet[below(alphabet.size())]));
            break;
        case 2:
            text.erase(at, length);
            break;
        case 3:
            text.insert(at, text.substr(below(text.size() + 1), length));
            break;
        default:
            const std::string &other = seeds[below(seeds.size())];
            text.insert(at, other.substr(below(other.size() + 1), 2 * length));
        }
    }
    return text;
}

inline void run(const std::string &text) {
    const std::vector<std::uint8_t> bytes(text.begin(), text.end()); // of exactly its size, for the address sanitizer
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

inline int standalone(int n_arguments, char **arguments, const Seeds &seeds, std::string_view alphabet, int n_runs) {
    for (int i = 1; i < n_arguments; ++i) {
        std::ifstream file(arguments[i], std::ios::binary);
        run(std::string(std::istreambuf_iterator<char>(file), {}));
    }
    if (n_arguments > 1) return 0;
    std::mt19937_64 random(20);
    std::string text;
    for (int i = 0; i < n_runs; ++i) {
        if (i % 50 == 0) text = seeds[i / 50 % seeds.size()];
        text = mutate(text, seeds, alphabet, random);
        if (text.size() > 2000) text.resize(1000);
        run(text);
    }
    std::printf("%d mutations survived\n", n_runs);
    return 0;
}

} // namespace rankwright::fuzz
