// A heading is a button that sorts the rows: numbers by size, texts by letters, a second time the other way round.
for (const table of document.querySelectorAll("table[data-sorted]")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = heading.ariaSort === "ascending";
      const key = row => {
        const cell = row.cells[column];
        return heading.classList.contains("number") ? Number(cell.dataset.size ?? "NaN") : cell.textContent;
      };
      const order = (a, b) => Number.isNaN(a) || Number.isNaN(b) ? Number.isNaN(a) - Number.isNaN(b)  // none: last
        : (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
      table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => order(key(a), key(b))));
      headings.forEach(each => each.removeAttribute("aria-sort"));
      heading.ariaSort = down ? "descending" : "ascending";
    });
  });
}
