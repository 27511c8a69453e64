// Judging by keys. A judgment is kept in the browser until the server has said that it is on the disk.
const PENDING = "rankwright-pending";
const AGAIN_MS = 1000;

export const startJudging = (show, tell) => {
  if (document.body.dataset.tab !== "judge") return;
  let sending = false;

  /** Send what waits until the server takes it; whatever it answered, nothing is forgotten before that. */
  const send = async () => {
    const pending = JSON.parse(localStorage.getItem(PENDING) ?? "null");
    if (!pending || sending) return;
    sending = true;
    document.getElementById("judging")?.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(pending.action, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", "x-parts": "1" },
        body: pending.body,
        credentials: "same-origin",
      });
      if (answer.ok) {
        localStorage.removeItem(PENDING);
        sending = false;
        await show(answer.url, "push");
        tell(pending.said);
        document.getElementById("judged-title")?.focus({ preventScroll: true });
        scrollTo(0, 0);
        return;
      }
      const text = await answer.text();
      const fault = new DOMParser().parseFromString(text, "text/html").getElementById("fault");
      if (answer.status === 401) {
        tell("Not saved yet: the server was started anew. Open the address that it printed in this browser; this judgment waits here and is sent then.");
      } else if (answer.status < 500) {
        localStorage.removeItem(PENDING); // it will never be taken
        sending = false;
        tell(`Not saved: ${fault?.textContent ?? answer.status}`);
        return;
      } else tell(`Not saved yet: ${fault?.textContent ?? "the server failed"}. It is tried again.`);
    } catch {
      tell("Not saved yet: the server does not answer. It is tried again until it does.");
    }
    sending = false;
    setTimeout(send, AGAIN_MS);
  };

  /** What was judged last, in whichever tab; undo names it, so that to send it again takes no other back. */
  const lastJudged = async () => {
    const answer = await fetch(location.href, { headers: { "x-parts": "1" }, credentials: "same-origin" });
    const made = new DOMParser().parseFromString(await answer.text(), "text/html");
    return made.querySelector("#undo [name=last]")?.value ?? null;
  };

  const keep = async (form, button) => {
    if (localStorage.getItem(PENDING)) return; // one after the other
    const body = new URLSearchParams(new FormData(form));
    if (button?.name) body.set(button.name, button.value);
    if (form.id === "undo") {
      const last = await lastJudged().catch(() => null);
      if (last === null) return tell("Not taken back: the server does not answer, or was started anew.");
      if (last === "") return tell("There is nothing to take back.");
      if (localStorage.getItem(PENDING)) return;
      body.set("last", last);
    }
    const said = form.id === "undo" ? "Taken back." : `Saved: grade ${button.value}.`;
    localStorage.setItem(PENDING, JSON.stringify({ action: form.getAttribute("action"), body: body.toString(), said }));
    send();
  };

  document.addEventListener("submit", (event) => {
    if (!["grades", "undo"].includes(event.target.id)) return;
    event.preventDefault();
    if (event.target.id === "grades" && !event.submitter) return;
    keep(event.target, event.submitter);
  });

  document.addEventListener("keydown", (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.target.id === "comment") {
      if (event.key === "Escape" || event.key === "Enter") {
        event.preventDefault();
        document.getElementById("judged-title").focus();
      }
      return;
    }
    if (event.target.matches("input, select, textarea")) return;
    const grade = document.querySelector(`#grades button[value="${CSS.escape(event.key)}"]`);
    if (grade) grade.click();
    else if (event.key === "s") document.getElementById("skip")?.click();
    else if (event.key === "u") document.querySelector("#undo button")?.click();
    else if (event.key === "c") document.getElementById("comment")?.focus();
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.id === "comment" && event.key === "Enter") event.preventDefault();
  });
  send();
};
