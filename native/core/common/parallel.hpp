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

// Starts threads that run serve(1), serve(2), …, up to `n` of them. There are fewer where the system grants no more, be
// it for a limit or for want of memory for their stacks: what is to be done is then done by those there are.
template <typename Serve> std::vector<std::jthread> start_helpers(std::size_t n, Serve serve) {
    std::vector<std::jthread> helpers;
    helpers.reserve(n);
    try {
        for (std::size_t number = 1; number <= n; ++number) helpers.emplace_back(serve, number);
    } catch (const std::exception &) { // no more threads, or no memory for one
        return helpers;
    }
    return helpers;
}

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
    auto work = [&](std::size_t) {
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

    std::vector<std::jthread> helpers = start_helpers(n_workers - 1, work);
    work(0);
    helpers.clear(); // joins
    if (failure) std::rethrow_exception(failure);
}

} // namespace rankwright
