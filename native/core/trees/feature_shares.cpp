#include "core/trees/feature_shares.hpp"

#include <algorithm>
#include <bit>

namespace rankwright {

namespace {

constexpr std::size_t split_words = 8; // of a split, before its categories

void write_split(const Split &split, std::span<std::int64_t> words) {
    std::ranges::fill(words, 0);
    words[0] = std::bit_cast<std::int64_t>(split.score);
    words[1] = std::bit_cast<std::int64_t>(split.worth);
    words[2] = split.feature;
    words[3] = split.bin;
    words[4] = split.missing_left;
    words[5] = split.left.gradient;
    words[6] = split.left.curvature;
    words[7] = split.left.count;
    for (const std::uint16_t code : split.categories) {
        auto &word = words[split_words + code / 64u];
        word = static_cast<std::int64_t>(static_cast<std::uint64_t>(word) | std::uint64_t{1} << (code % 64u));
    }
}

Split read_split(std::span<const std::int64_t> words) {
    Split split{std::bit_cast<double>(words[0]),
                std::bit_cast<double>(words[1]),
                static_cast<std::int32_t>(words[2]),
                static_cast<std::int32_t>(words[3]),
                words[4] != 0,
                {words[5], words[6], words[7]},
                {}};
    for (std::size_t word = 0; word + split_words < words.size(); ++word) {
        for (auto left = static_cast<std::uint64_t>(words[split_words + word]); left != 0; left &= left - 1) {
            const auto place = static_cast<std::size_t>(std::countr_zero(left));
            split.categories.push_back(static_cast<std::uint16_t>(64 * word + place));
        }
    }
    return split;
}

} // namespace

FeatureShares::FeatureShares(Exchange *exchange, std::span<const std::int64_t> n_bins, std::span<const bool> asked)
    : exchange_(exchange), n_bins_(n_bins), own_(n_bins_.size(), exchange == nullptr) {
    const std::int64_t most = n_bins_.empty() ? 0 : std::ranges::max(n_bins_);
    n_category_words_ = static_cast<std::size_t>(most) / 64 + 1;
    if (!exchange_) return;
    std::int64_t total = 0, before = 0;
    for (std::size_t feature = 0; feature < n_bins_.size(); ++feature) {
        if (asked[feature]) total += n_bins_[feature] + 1;
    }
    const auto n_workers = static_cast<std::int64_t>(exchange_->size());
    shares_.resize(exchange_->size());
    share_bins_.resize(exchange_->size());
    for (std::size_t feature = 0; feature < n_bins_.size(); ++feature) {
        if (!asked[feature]) continue;
        const std::int64_t bins = n_bins_[feature] + 1;
        const auto worker = static_cast<std::size_t>((2 * before + bins) * n_workers / (2 * total));
        shares_[worker].push_back(feature);
        share_bins_[worker] += bins;
        own_[feature] = worker == exchange_->rank();
        before += bins;
    }
}

// Calls visit(bins, n) for the bins of each feature of a worker, twice where they are wide.
template <typename Visit>
void FeatureShares::visit_bins(const HistogramLayout &layout, std::uint64_t *histogram, bool wide, std::size_t worker,
                               Visit visit) const {
    for (const std::size_t feature : shares_[worker]) {
        const HistogramLayout::Group &group = layout.groups[layout.group_of(feature)];
        std::uint64_t *bins = histogram + group.base + layout.slot_of(feature) * group.stride;
        const auto n = static_cast<std::size_t>(n_bins_[feature]) + 1;
        visit(bins, n);
        if (wide) visit(bins + group.n_bins(), n);
    }
}

void FeatureShares::add_bins(const HistogramLayout &layout, std::uint64_t *histogram, bool wide) {
    if (!exchange_) return;
    const std::int64_t words_per_bin = wide ? 2 : 1;
    std::vector<std::int64_t> sizes;
    std::size_t n_out = 0;
    for (const std::int64_t bins : share_bins_) {
        sizes.push_back(words_per_bin * bins);
        n_out += static_cast<std::size_t>(sizes.back());
    }
    out_.resize(n_out);
    auto place = out_.begin();
    for (std::size_t worker = 0; worker < shares_.size(); ++worker) {
        visit_bins(layout, histogram, wide, worker,
                   [&](const std::uint64_t *bins, std::size_t n) { place = std::copy_n(bins, n, place); });
    }
    in_.resize(static_cast<std::size_t>(sizes[exchange_->rank()]) * shares_.size());
    exchange_->trade(out_, sizes, in_);
    const std::int64_t *from = in_.data();
    for (std::size_t worker = 0; worker < shares_.size(); ++worker) {
        visit_bins(layout, histogram, wide, exchange_->rank(), [&](std::uint64_t *bins, std::size_t n) {
            for (std::size_t bin = 0; bin < n; ++bin) {
                const auto theirs = static_cast<std::uint64_t>(from[bin]);
                bins[bin] = worker == 0 ? theirs : bins[bin] + theirs;
            }
            from += n;
        });
    }
}

void FeatureShares::choose(std::span<Split> best) const {
    if (!exchange_) return;
    const std::size_t n_words = split_words + n_category_words_;
    std::vector<std::int64_t> words(best.size() * n_words), all(words.size() * exchange_->size());
    for (std::size_t i = 0; i < best.size(); ++i) {
        write_split(best[i], std::span(words).subspan(i * n_words, n_words));
    }
    exchange_->gather(words, all);
    for (std::size_t i = 0; i < best.size(); ++i) {
        best[i] = {};
        for (std::size_t worker = 0; worker < exchange_->size(); ++worker) {
            Split theirs = read_split(std::span(all).subspan(worker * words.size() + i * n_words, n_words));
            if (theirs.better_than(best[i])) best[i] = std::move(theirs);
        }
    }
}

void FeatureShares::add_sums(std::span<Sums> sums) const {
    if (!exchange_) return;
    std::vector<std::int64_t> words;
    for (const Sums &own_sums : sums)
        words.insert(words.end(), {own_sums.gradient, own_sums.curvature, own_sums.count});
    exchange_->add_up(words);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = {words[3 * i], words[3 * i + 1], words[3 * i + 2]};
}

} // namespace rankwright
