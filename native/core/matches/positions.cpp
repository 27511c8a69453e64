// Features of where the terms of a query occur. Occurrences come in the order of their positions.
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

} // namespace

double shortest_window(const Match &match) {
    const auto found = match.occurrences;
    const double n_covered = covered_terms(match);
    if (n_covered == 0) return 0.0;
    std::vector<std::int64_t> inside(match.n_terms(), 0);
    double n_inside = 0.0;
    std::int64_t shortest = found.back().position - found.front().position + 1;
    for (std::size_t left = 0, right = 0; right < found.size(); ++right) {
        if (inside[found[right].term]++ == 0) n_inside += 1.0;
        for (; n_inside == n_covered; ++left) {
            shortest = std::min(shortest, found[right].position - found[left].position + 1);
            if (--inside[found[left].term] == 0) n_inside -= 1.0;
        }
    }
    return static_cast<double>(shortest);
}

double first_position(const Match &match) {
    return match.occurrences.empty() ? 0.0 : 1.0 / static_cast<double>(match.occurrences.front().position + 1);
}

double phrase_count(const Match &match) {
    double n = 0.0;
    for (std::size_t first = 0; first < match.occurrences.size(); ++first) n += stands_at(match, first) ? 1.0 : 0.0;
    return n;
}

double ordered_phrase_count(const Match &match, double slack) {
    const auto places = match.query.places();
    if (covered_terms(match) < static_cast<double>(match.n_terms())) return 0.0;
    double n = 0.0;
    for (std::size_t first = 0; first < match.occurrences.size(); ++first) {
        const bool begins = match.occurrences[first].term == places.front();
        n += begins && follow_each_other(match, first, static_cast<double>(places.size()) + slack) ? 1.0 : 0.0;
    }
    return n;
}

double ordered_pairs(const Match &match, double within) {
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

double unordered_pairs(const Match &match, double within) {
    const auto found = match.occurrences;
    double n = 0.0;
    for (std::size_t k = 1; k < found.size(); ++k) {
        const bool close = static_cast<double>(found[k].position - found[k - 1].position) <= within;
        n += close && found[k].term != found[k - 1].term ? 1.0 : 0.0;
    }
    return n;
}

double longest_run(const Match &match) {
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

double closeness(const Match &match, double k1, double b) {
    const auto found = match.occurrences;
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

double begins_with_query(const Match &match) {
    const bool begins = !match.occurrences.empty() && match.occurrences.front().position == 0;
    return begins && stands_at(match, 0) ? 1.0 : 0.0;
}

double equals_query(const Match &match) {
    const bool as_long = match.length == static_cast<double>(match.query.places().size());
    return as_long ? begins_with_query(match) : 0.0;
}

} // namespace rankwright
