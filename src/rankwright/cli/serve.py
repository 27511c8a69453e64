"""`rankwright serve`: rankers behind HTTP."""

from __future__ import annotations

from rankwright.cli.options import AS_JSON, arg, flag, number_given, opt, separated
from rankwright.cli.output import print_json, tell
from rankwright.errors import require

EXAMPLES = (
    "Example: rankwright serve model.rw\n\n"
    "Example: rankwright serve model.rw web=other.rw --port 9000 --processes 2 --check valid.txt\n\n"
    "Example: rankwright serve model.rw --address 0.0.0.0 --tokens tokens.txt --access-log access.jsonl"
)
LISTEN, LET_IN, LIMITS, MODELS = "Where to listen", "Whom to let in", "Limits", "Models"
LIVE = "The live loop"


def serve(
    models: list[str] = arg("Model files; the first is the default. A name may stand before it.", "[NAME=]MODEL…"),
    address: str = opt(
        "The address to listen at; others than loopback need --tokens or --open.", "IP", LISTEN, default="127.0.0.1"
    ),
    port: int = opt("The port.", panel=LISTEN, default=8000, min=1, max=65535),
    processes: int = opt("How many processes share the port.", panel=LISTEN, default=1, min=1),
    tls_certificate: str | None = opt("A certificate, for TLS.", "FILE", LISTEN),
    tls_key: str | None = opt("Its key.", "FILE", LISTEN),
    tokens: str | None = opt("A file with bearer tokens, one a line.", "FILE", LET_IN),
    open_to_all: bool = flag("--open", "Let everybody in who reaches the address.", LET_IN),
    allow_host: list[str] | None = opt("A name that clients may call it by; may be repeated.", "NAME", LET_IN),
    allow_origin: list[str] | None = opt("An origin whose pages may ask; may be repeated.", "URL", LET_IN),
    check: str | None = opt("Labelled documents on which a changed model must not be worse.", "DATA", MODELS),
    check_loss: float = opt(
        "How much of its NDCG@10 a changed model may lose there.", panel=MODELS, default=0.05, min=0.0
    ),
    reload_seconds: float = opt(
        "How often to look whether model files changed; 0 never looks.", panel=MODELS, default=1.0, min=0.0
    ),
    threads: int = opt("How many threads score a request.", panel=MODELS, default=1, min=1),
    journal: str | None = opt("A folder for lists that are served and for clicks on them.", "DIR", LIVE),
    keep_features: bool = flag("--keep-features", "Keep the features of served documents there, too.", LIVE),
    click_window: float = opt(
        "How many seconds a list waits for clicks, before it goes into a segment.", panel=LIVE, default=1800.0, min=0.0
    ),
    segment_seconds: float = opt("How often to make segments.", panel=LIVE, default=60.0, min=0.1),
    split: str | None = opt("Share queries out among models: A=0.9,B=0.1.", "NAME=X,…", LIVE),
    interleave: str | None = opt("Let two models take turns in each list: A,B.", "A,B", LIVE),
    shadow: str | None = opt("A model that scores as well, and is never shown.", "NAME", LIVE),
    salt: str = opt("What the ids of queries are hashed with to share them out.", panel=LIVE, default="rankwright"),
    max_body: int = opt("The largest body, in bytes.", "BYTES", LIMITS, default=16 * 2**20, min=1),
    max_documents: int = opt("The most documents of a request.", panel=LIMITS, default=10_000, min=1),
    max_seconds: float = opt(
        "How long a body may take to arrive, and a request may wait.", panel=LIMITS, default=10.0, min=0.001
    ),
    max_waiting: int = opt(
        "How many requests that are there whole may wait in a process; more get 503 at once.",
        panel=LIMITS,
        default=64,
        min=1,
    ),
    max_connections: int = opt("The most connections of a process.", panel=LIMITS, default=1024, min=1),
    access_log: str | None = opt("Append a line of JSON for each request; - is standard error.", "FILE"),
    as_json: bool = AS_JSON,
) -> None:
    """Serve rankers over HTTP until Ctrl-C, or a signal to end: requests that were taken are answered first.

    /v1/rank takes a query's documents as JSON, Arrow or float32, and gives order, scores and explanations.
    /v1/rerank takes texts, as clients of Cohere and Jina send them; /v2/models/NAME/infer speaks the Open Inference
    Protocol. /openapi.json describes all addresses; /health, /ready and /metrics are for those who watch it. A model
    file that changes is checked and then taken, without a pause.
    """
    from rankwright.web.server import ServerPlace, check_place, require_server, run_server

    require_server()
    from rankwright.formats.reading import read
    from rankwright.serve.application import JournalSettings, RankServer, ServeSettings
    from rankwright.serve.models import named_file
    from rankwright.serve.reloading import CheckSample
    from rankwright.serve.traffic import Traffic
    from rankwright.web.access_log import AccessLog
    from rankwright.web.application import Shell
    from rankwright.web.guard import Guard, read_tokens
    from rankwright.web.limits import Limits
    from rankwright.web.metrics import MetricBoard

    place = ServerPlace(address, port, processes, tls_certificate, tls_key)
    limits = Limits(max_body, max_documents, max_seconds, max_waiting, max_connections)
    known = () if tokens is None else read_tokens(tokens)
    guard = Guard.for_address(
        address, hosts=tuple(allow_host or ()), origins=tuple(allow_origin or ()), tokens=known, open=open_to_all
    )
    sample = None if check is None else CheckSample(read(check), most_lost=check_loss)
    require(journal is not None or not keep_features, "--keep-features goes with --journal")
    kept = None if journal is None else JournalSettings(journal, click_window, segment_seconds, keep_features)
    traffic = Traffic(_shares(split), _pair(interleave), shadow, salt)
    require(journal is not None or traffic.interleaved is None, "--interleave goes with --journal, which keeps clicks")
    settings = ServeSettings([named_file(one) for one in models], threads, reload_seconds, sample, traffic, kept)
    server = RankServer(settings, Shell(limits, guard, AccessLog(access_log), MetricBoard(processes)))
    for model in server.shelf:
        tell(f"{model.name}: {model.trained.ranker}, {model.n_features} features, version {model.version}")
    check_place(place)
    tell(f"serving at {place.url}; Ctrl-C ends it")
    if as_json:
        print_json({"url": place.url, "models": [model.facts() for model in server.shelf]})
    run_server(server.application(), place, limits)


def _shares(text: str | None) -> tuple[tuple[str, float], ...]:
    """Models and their shares of the queries."""
    shares = []
    for part in separated(text or ""):
        name, equals, share = part.partition("=")
        require(bool(name and equals), f"--split takes NAME=SHARE,…, got {part!r}")
        shares.append((name, number_given(share, float, "--split", 0.0, 1.0)))
    return tuple(shares)


def _pair(text: str | None) -> tuple[str, str] | None:
    """Two models, the one whose order the rest of a list has first."""
    if text is None:
        return None
    names = separated(text)
    require(len(names) == 2 and names[0] != names[1], f"--interleave takes two models, A,B, got {text!r}")
    return names[0], names[1]
