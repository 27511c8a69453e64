// What the page shows is inside it as compressed JSON.

async function readState() {
  const letters = atob(document.getElementById("state").textContent.trim());
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}
