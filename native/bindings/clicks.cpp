#include <nanobind/stl/string_view.h>

#include <bit>

#include "core/clicks/grouping.hpp"
#include "core/clicks/models.hpp"
#include "core/clicks/numbering.hpp"
#include "core/clicks/position_sums.hpp"
#include "core/clicks/votes.hpp"

#include "bindings/define.hpp"
#include "bindings/records.hpp"
#include "bindings/require.hpp"
#include "bindings/text_records.hpp"

namespace rankwright {

template <> struct Reader<ShownLists> {
    static ShownLists read(nb::handle lists) {
        return {view<std::int64_t>(lists, "offsets"), view<std::int32_t>(lists, "queries"),
                view<std::int32_t>(lists, "documents"), view<bool>(lists, "clicked")};
    }
};

template <> struct Reader<PairLists> {
    static PairLists read(nb::handle lists) {
        return {view<std::int64_t>(lists, "list_starts"),
                view<std::int64_t>(lists, "pair_starts"),
                view<std::int64_t>(lists, "offsets"),
                view<std::int32_t>(lists, "pairs"),
                view<bool>(lists, "clicked"),
                view<std::int64_t>(lists, "counts")};
    }
};

template <> struct Reader<PairCells> {
    static PairCells read(nb::handle cells) {
        return {view<std::int64_t>(cells, "starts"), view<std::int32_t>(cells, "contexts"),
                view<std::int64_t>(cells, "shown"), view<std::int64_t>(cells, "clicks")};
    }
};

template <> struct Reader<IdTable> {
    static IdTable read(nb::handle table) {
        return {fill<std::uint64_t>(table, "hashes"), fill<std::int32_t>(table, "numbers")};
    }
};

template <> struct Reader<KnownTexts> {
    static KnownTexts read(nb::handle texts) {
        return {fill<std::uint8_t>(texts, "bytes"), fill<std::int64_t>(texts, "starts")};
    }
};

template <> struct Reader<VoteTable> {
    static VoteTable read(nb::handle table) {
        return {fill<std::int32_t>(table, "queries"), fill<std::uint64_t>(table, "pairs"),
                fill<std::int64_t>(table, "above"), fill<std::int64_t>(table, "below"),
                fill<std::int64_t>(table, "n_used")};
    }
};

namespace {

constexpr std::pair<std::string_view, VoteRule> vote_rules[] = {
    {"skip-above", VoteRule::skip_above},
    {"last-click", VoteRule::last_click},
    {"skip-above-and-next", VoteRule::skip_above_and_next},
    {"next", VoteRule::next},
    {"neighbours", VoteRule::neighbours},
    {"exposure", VoteRule::exposure},
};

void require_lists(const ShownLists &lists) {
    require_size("offsets", lists.offsets.size(), lists.queries.size() + 1);
    require_offsets("offsets", lists.offsets, lists.documents.size());
    require_size("clicked", lists.clicked.size(), lists.documents.size());
}

void require_pair_lists(const PairLists &lists) {
    require(!lists.list_starts.empty() && !lists.offsets.empty(), "list_starts and offsets must not be empty");
    require_offsets("list_starts", lists.list_starts, lists.offsets.size() - 1);
    require_size("pair_starts", lists.pair_starts.size(), lists.list_starts.size());
    require_offsets("offsets", lists.offsets, lists.pairs.size());
    require_size("clicked", lists.clicked.size(), lists.pairs.size());
    require_size("counts", lists.counts.size(), lists.offsets.size() - 1);
    require_below("pairs", lists.pairs, static_cast<std::size_t>(lists.pair_starts.back()));
}

void require_contexts(std::span<const std::int32_t> context_of, std::int64_t n_ranks) {
    require(n_ranks > 0, "n_ranks must be 1 or more");
    require_size("context_of", context_of.size(), n_ranks * (n_ranks + 1));
    require_below("context_of", context_of, context_of.size());
}

void require_votes(const VoteTable &table, const ShownLists &lists, VoteRule rule) {
    require(!table.n_used.empty() && std::has_single_bit(table.capacity()), "a part's slots must be a power of two");
    require_size("queries", table.queries.size(), table.n_parts() * table.capacity());
    require_size("pairs", table.pairs.size(), table.queries.size());
    require_size("above", table.above.size(), table.queries.size());
    require_size("below", table.below.size(), table.queries.size());
    for (std::size_t k = 0; k < lists.size(); ++k) {
        const auto clicked = lists.clicked.subspan(lists.offsets[k], lists.offsets[k + 1] - lists.offsets[k]);
        require(2 * most_votes(rule, clicked) <= table.capacity(),
                "a part of the table must have room for the votes of each list");
    }
}

Progress require_numbering(const IdTable &table, Out<std::int64_t> progress, std::size_t n_rows, std::size_t room,
                           std::size_t n_numbers) {
    require(std::has_single_bit(table.n_slots()), "the slots must be a power of two");
    require_size("table.numbers", table.numbers.size(), table.n_slots());
    require_size("progress", progress.size(), 2);
    require_size("numbers", n_numbers, n_rows);
    const auto values = fill(progress);
    require(values[0] >= 0 && static_cast<std::size_t>(values[0]) <= std::min(room, table.n_slots() / 2) &&
                values[1] >= 0 && static_cast<std::size_t>(values[1]) <= n_rows,
            "progress must be within what is known, and within the rows");
    return {values[0], values[1]};
}

void define_numbering(nb::module_ &module) {
    define(module, "number_integers", {"ids", "table", "known", "progress", "numbers", "threads"},
           [](In<std::int64_t> ids, IdTable table, Out<std::int64_t> known, Out<std::int64_t> progress,
              Out<std::int32_t> numbers, int threads) {
               const Progress at = require_numbering(table, progress, ids.size(), known.size(), numbers.size());
               number_integers(view(ids), table, fill(known), at, fill(numbers), threads);
           });
    define(module, "number_texts", {"ids", "table", "known", "progress", "numbers", "threads"},
           [](Texts ids, IdTable table, KnownTexts known, Out<std::int64_t> progress, Out<std::int32_t> numbers,
              int threads) {
               require_texts("starts", ids.starts, ids.bytes.size());
               require(!known.starts.empty(), "known.starts must not be empty");
               const Progress at =
                   require_numbering(table, progress, ids.size(), known.starts.size() - 1, numbers.size());
               require_texts("known.starts", known.starts.first(at.n_known + 1), known.bytes.size());
               number_texts(ids, table, known, at, fill(numbers), threads);
           });
    define(module, "order_by_query", {"queries", "keys", "n_queries", "order", "threads"},
           [](In<std::int32_t> queries, In<std::uint64_t> keys, std::size_t n_queries, Out<std::int64_t> order,
              int threads) {
               require_size("keys", keys.size(), queries.size());
               require_size("order", order.size(), queries.size());
               require_below("queries", view(queries), n_queries);
               order_by_query(view(queries), view(keys), n_queries, fill(order), threads);
           });
}

void define_grouping(nb::module_ &module) {
    define(module, "group_lists", {"lists", "hashes", "first", "threads"},
           [](ShownLists lists, In<std::uint64_t> hashes, Out<std::int64_t> first, int threads) {
               require_lists(lists);
               require_size("hashes", hashes.size(), lists.size());
               require_size("first", first.size(), lists.size());
               group_lists(lists, view(hashes), fill(first), threads);
           });
    define(module, "hash_lists", {"lists", "hashes", "threads"},
           [](ShownLists lists, Out<std::uint64_t> hashes, int threads) {
               require_lists(lists);
               require_size("hashes", hashes.size(), lists.size());
               hash_lists(lists, fill(hashes), threads);
           });
    define(module, "take_lists", {"lists", "places", "offsets", "documents", "clicked", "threads"},
           [](ShownLists lists, In<std::int64_t> places, In<std::int64_t> offsets, Out<std::int32_t> documents,
              Out<bool> clicked, int threads) {
               require_lists(lists);
               require_below("places", view(places), lists.size());
               require_size("offsets", offsets.size(), places.size() + 1);
               require_offsets("offsets", view(offsets), documents.size());
               require_size("clicked", clicked.size(), documents.size());
               for (std::size_t k = 0; k < places.size(); ++k) {
                   const std::int64_t place = view(places)[k];
                   require(view(offsets)[k + 1] - view(offsets)[k] == lists.offsets[place + 1] - lists.offsets[place],
                           "offsets must leave room for each list");
               }
               take_lists(lists, view(places), view(offsets), fill(documents), fill(clicked), threads);
           });
    define(module, "number_documents", {"starts", "documents", "numbers", "n_distinct", "threads"},
           [](In<std::int64_t> starts, In<std::int32_t> documents, Out<std::int32_t> numbers,
              Out<std::int64_t> n_distinct, int threads) {
               require_size("starts", starts.size(), n_distinct.size() + 1);
               require_offsets("starts", view(starts), documents.size());
               require_size("numbers", numbers.size(), documents.size());
               number_documents(view(starts), view(documents), fill(numbers), fill(n_distinct), threads);
           });
    define(module, "count_votes", {"lists", "counts", "rule", "amounts", "table", "done", "threads"},
           [](ShownLists lists, In<std::int64_t> counts, std::string_view rule, InMatrix<std::int64_t> amounts,
              VoteTable table, Out<std::int64_t> done, int threads) {
               require_lists(lists);
               const VoteRule kind = named(rule, vote_rules);
               require_votes(table, lists, kind);
               require_size_or_none("counts", counts.size(), lists.size());
               require_size("done", done.size(), table.n_parts());
               require_below<std::int64_t>("done", fill(done), lists.size() + 1);
               require(amounts.shape(0) == amounts.shape(1), "amounts must have as many rows as columns");
               const std::size_t n_ranks = amounts.shape(0) == 0 ? 1 : amounts.shape(0);
               count_votes(lists, view(counts), kind, view(amounts), n_ranks, table, fill(done), threads);
           });
}

void define_examination(nb::module_ &module) {
    define(module, "count_cells", {"lists", "context_of", "n_cells", "threads"},
           [](PairLists lists, InMatrix<std::int32_t> context_of, Out<std::int64_t> n_cells, int threads) {
               require_pair_lists(lists);
               require_contexts(view(context_of), context_of.shape(0));
               require_size("n_cells", n_cells.size(), lists.pair_starts.back());
               count_cells(lists, view(context_of), context_of.shape(0), fill(n_cells), threads);
           });
    define(module, "fill_cells", {"lists", "context_of", "starts", "contexts", "shown", "clicks", "threads"},
           [](PairLists lists, InMatrix<std::int32_t> context_of, In<std::int64_t> starts, Out<std::int32_t> contexts,
              Out<std::int64_t> shown, Out<std::int64_t> clicks, int threads) {
               require_pair_lists(lists);
               require_contexts(view(context_of), context_of.shape(0));
               require_size("starts", starts.size(), lists.pair_starts.back() + 1);
               require_offsets("starts", view(starts), contexts.size());
               require_size("shown", shown.size(), contexts.size());
               require_size("clicks", clicks.size(), contexts.size());
               fill_cells(lists, view(context_of), context_of.shape(0), view(starts), fill(contexts), fill(shown),
                          fill(clicks), threads);
           });
    define(module, "examination_step",
           {"cells", "attraction", "examination", "examined_of_pair", "examined_in_context", "threads"},
           [](PairCells cells, In<double> attraction, In<double> examination, Out<double> examined_of_pair,
              Out<double> examined_in_context, int threads) {
               require_size("starts", cells.starts.size(), attraction.size() + 1);
               require_offsets("starts", cells.starts, cells.contexts.size());
               require_size("shown", cells.shown.size(), cells.contexts.size());
               require_size("clicks", cells.clicks.size(), cells.contexts.size());
               require_below("contexts", cells.contexts, examination.size());
               require_size("examined_of_pair", examined_of_pair.size(), attraction.size());
               require_size("examined_in_context", examined_in_context.size(), examination.size());
               examination_step(cells, view(attraction), view(examination), fill(examined_of_pair),
                                fill(examined_in_context), threads);
           });
}

void define_chains(nb::module_ &module) {
    define(module, "count_clicks", {"lists", "of_pair", "at_rank", "threads"},
           [](PairLists lists, OutMatrix<std::int64_t> of_pair, OutMatrix<std::int64_t> at_rank, int threads) {
               require_pair_lists(lists);
               require_shape("of_pair", of_pair, lists.pair_starts.back(), 6);
               require_shape("at_rank", at_rank, at_rank.shape(0), 3);
               require(at_rank.shape(0) > 0, "at_rank must have a row");
               count_clicks(lists, at_rank.shape(0), fill(of_pair), fill(at_rank), threads);
           });
    define(module, "dbn_step",
           {"lists", "attraction", "satisfaction", "persistence", "examined", "satisfied", "went_on", "could_go_on",
            "threads"},
           [](PairLists lists, In<double> attraction, In<double> satisfaction, double persistence, Out<double> examined,
              Out<double> satisfied, Out<double> went_on, Out<double> could_go_on, int threads) {
               require_pair_lists(lists);
               const std::size_t n_pairs = lists.pair_starts.back();
               require_size("attraction", attraction.size(), n_pairs);
               require_size("satisfaction", satisfaction.size(), n_pairs);
               require_size("examined", examined.size(), n_pairs);
               require_size("satisfied", satisfied.size(), n_pairs);
               require_size("went_on", went_on.size(), lists.n_queries());
               require_size("could_go_on", could_go_on.size(), lists.n_queries());
               dbn_step(lists, view(attraction), view(satisfaction), persistence, fill(examined), fill(satisfied),
                        fill(went_on), fill(could_go_on), threads);
           });
}

} // namespace

void bind_clicks(nb::module_ &module) {
    define_numbering(module);
    define_grouping(module);
    define_examination(module);
    define_chains(module);
    define(module, "position_losses",
           {"offsets", "labels", "scores", "positions", "clicked_weight", "other_weight", "of_clicked", "of_other",
            "threads"},
           [](In<std::int64_t> offsets, In<float> labels, In<double> scores, In<std::int64_t> positions,
              In<double> clicked_weight, In<double> other_weight, Out<double> of_clicked, Out<double> of_other,
              int threads) {
               require_offsets("offsets", view(offsets), labels.size());
               require_size("scores", scores.size(), labels.size());
               require_size("positions", positions.size(), labels.size());
               require_size("other_weight", other_weight.size(), clicked_weight.size());
               require_size("of_clicked", of_clicked.size(), clicked_weight.size());
               require_size("of_other", of_other.size(), clicked_weight.size());
               require_below("positions", view(positions), clicked_weight.size());
               position_losses(view(offsets), view(labels), view(scores), view(positions), view(clicked_weight),
                               view(other_weight), fill(of_clicked), fill(of_other), threads);
           });
}

} // namespace rankwright
