// Send a dropped or chosen table, and show the certificate that comes back.
"use strict";
const form = document.getElementById("upload"), input = document.getElementById("file");
const progress = document.getElementById("progress"), place = document.getElementById("certificate");

async function send(file) {
  if (!file) return;
  progress.textContent = `Reading ${file.name} …`;
  place.replaceChildren();
  try {
    const answer = await fetch(`/certify?name=${encodeURIComponent(file.name)}`, {method: "POST", body: file,
      headers: {"Content-Type": "application/octet-stream", "X-CSRF-Token": form.dataset.token}});
    if (answer.redirected) location.reload();  // the session has ended
    const found = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (answer.ok) {
      place.replaceChildren(...found.body.childNodes);
      progress.textContent = `The certificate of ${file.name}:`;
      const heading = place.querySelector("h1, h2");
      heading.tabIndex = -1;
      heading.focus();
    } else {
      progress.textContent = found.querySelector("[role=alert]")?.textContent ?? "That did not work.";
    }
  } catch (error) {
    progress.textContent = "No connection to the service.";
  }
}
input.addEventListener("change", () => send(input.files[0]));
form.addEventListener("submit", (event) => event.preventDefault());
for (const name of ["dragover", "dragleave", "drop"]) {
  form.addEventListener(name, (event) => {
    event.preventDefault();
    form.classList.toggle("over", name === "dragover");
    if (name === "drop") send(event.dataTransfer.files[0]);
  });
}
