// What processes that grow one tree together tell each other. Each has its own documents; all take the same steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rankwright {

// Every method must be called by all workers, in the same order and with arrays of the same sizes.
class Exchange {
  public:
    virtual ~Exchange() = default;

    virtual std::size_t size() const = 0; // the number of workers
    virtual std::size_t rank() const = 0; // this one's number

    // Replaces each value by its sum over the workers.
    virtual void add_up(std::span<std::int64_t> values) = 0;
    // Sends sizes[w] values to worker w, those for worker 0 first, and fills `in` with what each worker sent here.
    virtual void trade(std::span<const std::int64_t> out, std::span<const std::int64_t> sizes,
                       std::span<std::int64_t> in) = 0;
    // Fills `all` with the values of each worker, worker 0 first.
    virtual void gather(std::span<const std::int64_t> own, std::span<std::int64_t> all) = 0;
};

} // namespace rankwright
