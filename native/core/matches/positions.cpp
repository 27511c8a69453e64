// Features of where the terms of a query occur. There is an occurrence at least; they come in the order of their
// positions.
#include <algorithm>

#include "core/matches/matches.hpp"

namespace rankwright {

namespace {

// Whether the query's text from its first place on stands at occurrence `first`.
bool stands_at(const Match &match, std::size_t first) {
    const auto places = match.query.places();
    if (first + places.size() > match.occurrences.size()) return false;
    for (std::size_t place = 0; place < places.size(); ++place) {
        const Occurrence &found = match.occurrences[first + place];
        const auto wanted = match.occurrences[first].position + static_cast<std::int64_t>(place);
        if (found.term != places[place] || found.position != wanted) return false;
    }
    return true;
}

// Whether the query's terms follow each other from occurrence `first` on, each the next of its kind, within `most`.
bool follow_each_other(const Match &match, std::size_t first, double most) {
    const auto places = match.query.places();
    const auto found = match.occurrences;
    std::size_t place = 0;
    for (std::size_t k = first; k < found.size(); ++k) {
        if (static_cast<double>(found[k].position - found[first].position + 1) > most) return false;
        if (found[k].term == places[place]) ++place;
        if (place == places.size()) return true;
    }
    return false;
}

double shortest_window(const Match &match, Settings) {
    const auto found = match.occurrences;
    std::vector<std::int64_t> inside(match.n_terms(), 0);
    double n_inside = 0.0;
    std::int64_t shortest = found.back().position - found.front().position + 1;
    for (std::size_t left = 0, right = 0; right < found.size(); ++right) {
        if (inside[found[right].term]++ == 0) n_inside += 1.0;
        for (; n_inside == match.n_covered; ++left) {
            shortest = std::min(shortest, found[right].position - found[left].position + 1);
            if (--inside[found[left].term] == 0) n_inside -= 1.0;
        }
    }
    return static_cast<double>(shortest);
}

double first_position(const Match &match, Settings) {
    return 1.0 / static_cast<double>(match.occurrences.front().position + 1);
}

double phrase_count(const Match &match, Settings) {
    double n = 0.0;
    for (std::size_t first = 0; first < match.occurrences.size(); ++first) n += stands_at(match, first) ? 1.0 : 0.0;
    return n;
}

double ordered_phrase_count(const Match &match, Settings settings) {
    const auto places = match.query.places();
    if (match.n_covered < static_cast<double>(match.n_terms())) return 0.0;
    double n = 0.0;
    for (std::size_t first = 0; first < match.occurrences.size(); ++first) {
        const bool begins = match.occurrences[first].term == places.front();
        n += begins && follow_each_other(match, first, static_cast<double>(places.size()) + settings[0]) ? 1.0 : 0.0;
    }
    return n;
}

double ordered_pairs(const Match &match, Settings settings) {
    const double within = settings[0];
    const auto found = match.occurrences;
    double n = 0.0;
    for (std::size_t one = 0; one < found.size(); ++one) {
        for (std::size_t other = one + 1; other < found.size(); ++other) {
            if (static_cast<double>(found[other].position - found[one].position) > within) break;
            if (!match.query.follows(found[one].term, found[other].term)) continue;
            n += 1.0; // an occurrence counts once, however often it is followed
            break;
        }
    }
    return n;
}

double unordered_pairs(const Match &match, Settings settings) {
    const double within = settings[0];
    const auto found = match.occurrences;
    double n = 0.0;
    for (std::size_t k = 1; k < found.size(); ++k) {
        const bool close = static_cast<double>(found[k].position - found[k - 1].position) <= within;
        n += close && found[k].term != found[k - 1].term ? 1.0 : 0.0;
    }
    return n;
}

double longest_run(const Match &match, Settings) {
    const auto found = match.occurrences;
    std::vector<std::int64_t> before(match.query.places().size(), 0), here(before.size(), 0);
    std::int64_t longest = 0;
    for (std::size_t k = 0; k < found.size(); ++k) {
        const bool joined = k > 0 && found[k].position == found[k - 1].position + 1;
        for (const std::int64_t place : match.query.places_of(found[k].term)) {
            here[place] = joined && place > 0 ? before[place - 1] + 1 : 1;
            longest = std::max(longest, here[place]);
        }
        if (k > 0) {
            for (const std::int64_t place : match.query.places_of(found[k - 1].term)) before[place] = 0;
        }
        std::swap(before, here);
    }
    return static_cast<double>(longest);
}

double closeness(const Match &match, Settings settings) {
    const auto found = match.occurrences;
    const double k1 = settings[0], b = settings[1];
    if (found.size() < 2) return 0.0;
    const auto idf = match.query.idf(match.view);
    std::vector<double> near(match.n_terms(), 0.0);
    for (std::size_t k = 1; k < found.size(); ++k) {
        const std::int64_t one = found[k - 1].term, other = found[k].term;
        if (one == other) continue;
        const auto distance = static_cast<double>(found[k].position - found[k - 1].position);
        near[one] += idf[other] / (distance * distance);
        near[other] += idf[one] / (distance * distance);
    }
    const double saturation = k1 * (1.0 - b + b * match.length / match.mean_length);
    double sum = 0.0;
    for (std::size_t term = 0; term < match.n_terms(); ++term) {
        if (near[term] > 0) sum += idf[term] * (near[term] / (near[term] + saturation));
    }
    return sum;
}

double begins_with_query(const Match &match, Settings) {
    return match.occurrences.front().position == 0 && stands_at(match, 0) ? 1.0 : 0.0;
}

double equals_query(const Match &match, Settings settings) {
    const bool as_long = match.length == static_cast<double>(match.query.places().size());
    return as_long ? begins_with_query(match, settings) : 0.0;
}

constexpr PositionMeasure measures[] = {
    {"shortest_window", 0, shortest_window},
    {"first_position", 0, first_position},
    {"phrase", 0, phrase_count},
    {"ordered_phrase", 1, ordered_phrase_count},
    {"ordered_pairs", 1, ordered_pairs},
    {"unordered_pairs", 1, unordered_pairs},
    {"longest_run", 0, longest_run},
    {"closeness", 2, closeness},
    {"begins_with_query", 0, begins_with_query},
    {"equals_query", 0, equals_query},
};

} // namespace

std::span<const PositionMeasure> position_measures() { return measures; }

} // namespace rankwright
