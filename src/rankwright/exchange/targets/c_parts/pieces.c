    for (int f = 0; f < N; ++f) y[f] = categorical[f] ? 0 : x[f];
    for (int p = 0; p < N_PIECES; ++p) {
        const int f = pieces[p].feature, gone = own_missing[f] && features[f] != features[f];
        const double low = pieces[p].low, high = pieces[p].high, risen = (x[f] - low) / (high - low);
        double share = risen > 0 ? (risen < 1 ? risen : 1) : 0;
        if (pieces[p].kind == 1) share = x[f] >= low && x[f] < high;
        if (pieces[p].kind == 2) share = gone;
        y[N + p] = @height@ * (gone && pieces[p].kind != 2 ? 0 : share);
    }
