// Threads that live for one call and take many short steps together in it.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/common/parallel.hpp"

namespace rankwright {

// A tree takes hundreds of short parallel steps: starting threads for each would cost more than the steps. Members
// wait for the next step awake for a moment and then asleep, so as not to load a busy machine.
class Team {
  public:
    explicit Team(int threads)
        : helpers_(start_helpers(static_cast<std::size_t>(std::max(threads, 1) - 1),
                                 [this](std::size_t member) { serve(static_cast<int>(member)); })) {}
    Team(const Team &) = delete;
    Team &operator=(const Team &) = delete;
    ~Team() {
        if (helpers_.empty()) return;
        leaving_ = true;
        announce();
    }

    int size() const { return 1 + static_cast<int>(helpers_.size()); } // less than asked for where threads are scarce

    // Calls step(member) once for every member, 0 to size() - 1, each in its own thread; member 0 is the caller.
    // The first exception is thrown again here once all have finished.
    template <typename Step> void run(Step &&step) {
        call_ = [](void *context, int member) { (*static_cast<std::remove_reference_t<Step> *>(context))(member); };
        context_ = const_cast<void *>(static_cast<const void *>(&step));
        if (!helpers_.empty()) {
            n_working_.store(size() - 1, std::memory_order_relaxed);
            announce();
        }
        work(0);
        await_change(n_working_, [](int left) { return left == 0; });
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

  private:
    static constexpr int patience = 4000; // checks before going to sleep: some tens of microseconds

    template <typename Value, typename Done> static void await_change(const std::atomic<Value> &place, Done &&done) {
        for (int look = 0; look < patience; ++look) {
            if (done(place.load(std::memory_order_acquire))) return;
            pause();
        }
        for (Value seen = place.load(std::memory_order_acquire); !done(seen);
             seen = place.load(std::memory_order_acquire)) {
            place.wait(seen, std::memory_order_acquire);
        }
    }

    static void pause() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }

    void announce() {
        step_number_.fetch_add(1, std::memory_order_release);
        step_number_.notify_all();
    }

    void serve(int member) {
        for (unsigned seen = 0;; ++seen) {
            await_change(step_number_, [seen](unsigned number) { return number != seen; });
            if (leaving_) return;
            work(member);
            if (n_working_.fetch_sub(1, std::memory_order_acq_rel) == 1) n_working_.notify_all();
        }
    }

    void work(int member) {
        try {
            call_(context_, member);
        } catch (...) {
            std::scoped_lock lock(failure_guard_);
            if (!failure_) failure_ = std::current_exception();
        }
    }

    void (*call_)(void *, int) = nullptr;
    void *context_ = nullptr;
    bool leaving_ = false;
    std::exception_ptr failure_;
    std::mutex failure_guard_;
    std::atomic<unsigned> step_number_{0};
    std::atomic<int> n_working_{0};
    std::vector<std::jthread> helpers_; // last, so that they are joined before the rest goes
};

} // namespace rankwright
