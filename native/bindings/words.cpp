#include "bindings/define.hpp"
#include "bindings/require.hpp"
#include "bindings/text_records.hpp"
#include "core/words/lookup.hpp"
#include "core/words/split.hpp"

namespace rankwright {

namespace {

// The distinct words, to be filled.
struct WordRoom {
    std::span<std::uint8_t> bytes;
    std::span<std::int64_t> starts;
};

} // namespace

template <> struct Reader<WordRoom> {
    static WordRoom read(nb::handle words) {
        return {fill<std::uint8_t>(words, "bytes"), fill<std::int64_t>(words, "starts")};
    }
};

void bind_words(nb::module_ &module) {
    define(module, "split_words", {"texts", "token_starts", "tokens", "words", "counts"},
           [](Texts texts, Out<std::int64_t> token_starts, Out<std::uint32_t> tokens, WordRoom words,
              Out<std::int64_t> counts) {
               require_texts("texts", texts.starts, texts.bytes.size());
               require_size("token_starts", token_starts.size(), texts.starts.size());
               require_size("counts", counts.size(), 3);
               split_words(texts, {fill(token_starts), fill(tokens), words.bytes, words.starts, fill(counts)});
           });
    define(module, "find_texts", {"known", "order", "wanted", "places", "threads"},
           [](Texts known, In<std::int64_t> order, Texts wanted, Out<std::int64_t> places, int threads) {
               require(!known.starts.empty() && !wanted.starts.empty(), "starts must not be empty");
               require_size_or_none("order", order.size(), known.size());
               require_size("places", places.size(), wanted.size());
               find_texts(known, view(order), wanted, fill(places), threads);
           });
    define(module, "sort_texts", {"texts", "order", "repeated"},
           [](Texts texts, Out<std::int64_t> order, Out<std::int64_t> repeated) {
               require(!texts.starts.empty(), "starts must not be empty");
               require_size("order", order.size(), texts.size());
               require_size("repeated", repeated.size(), 1);
               fill(repeated)[0] = sort_texts(texts, fill(order));
           });
}

} // namespace rankwright
