// Our own thread helper. No OpenMP: it hangs after fork and clashes with other libraries' copies.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace rankwright {

// Calls body(begin, end) for blocks of at most `grain` items that together cover [0, n) once.
// Which thread runs which block is left open, so a body must write only what belongs to its block.
// The first exception stops the hand-out of blocks and is thrown again in the caller's thread.
template <typename Body> void parallel_for(std::size_t n, int threads, std::size_t grain, Body &&body) {
    if (n == 0) return;
    grain = std::max<std::size_t>(grain, 1);
    const std::size_t n_blocks = (n + grain - 1) / grain;
    const std::size_t n_workers = std::min<std::size_t>(std::max(threads, 1), n_blocks);

    std::atomic<std::size_t> next_block{0};
    std::exception_ptr failure;
    std::mutex failure_guard;
    auto work = [&] {
        try {
            for (std::size_t block; (block = next_block.fetch_add(1)) < n_blocks;) {
                body(block * grain, std::min(n, (block + 1) * grain));
            }
        } catch (...) {
            std::scoped_lock lock(failure_guard);
            if (!failure) failure = std::current_exception();
            next_block = n_blocks;
        }
    };

    std::vector<std::jthread> helpers;
    helpers.reserve(n_workers - 1);
    for (std::size_t i = 1; i < n_workers; ++i) helpers.emplace_back(work);
    work();
    helpers.clear(); // joins
    if (failure) std::rethrow_exception(failure);
}

} // namespace rankwright
