"use strict";
/* Tables that sort and copy, and links that open what they lead to. */
(() => {
  const status = document.getElementById("status");
  let timer = 0;

  const tell = (text) => {
    status.textContent = text;
    clearTimeout(timer);
    timer = setTimeout(() => { status.textContent = ""; }, 3000);
  };

  /* A number at the start of a cell, k/n as a share; null for words and dashes. */
  const number = (text) => {
    const found = /^([+\-−]?\d+(?:\.\d+)?(?:e[+\-]?\d+)?)(?:\/(\d+))?/.exec(text.trim());
    if (!found) return null;
    const value = Number(found[1].replace("−", "-"));
    return found[2] ? 100 * value / Number(found[2]) : value;
  };

  const words = new Intl.Collator("en", { numeric: true });
  const byWord = (a, b, down) => down ? words.compare(b, a) : words.compare(a, b);
  const byNumber = (a, b, down) => {
    const [x, y] = [number(a), number(b)];
    if (x !== null && y !== null) return down ? y - x : x - y;
    if (x === null && y === null) return 0;
    return x === null ? 1 : -1; /* undefined stays below, either way */
  };

  const sortable = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const numeric = head.classList.contains("number");
        const first = numeric ? "descending" : "ascending";
        const other = first === "descending" ? "ascending" : "descending";
        const now = head.getAttribute("aria-sort") === first ? other : first;
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", now);
        const body = table.tBodies[0];
        const rows = [...body.rows];
        const order = numeric ? byNumber : byWord;
        rows.sort((a, b) => order(a.cells[column].textContent, b.cells[column].textContent, now === "descending"));
        body.append(...rows);
        tell(`Sorted by ${button.textContent}, ${now}`);
      });
    });
  };

  const tsv = (table) => [...table.rows]
    .map((row) => [...row.cells].map((cell) => cell.textContent.replace(/\s+/g, " ").trim()).join("\t"))
    .join("\n") + "\n";

  const copyable = (table) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy as TSV";
    button.setAttribute("aria-label", `Copy as TSV: ${table.getAttribute("aria-label")}`);
    button.addEventListener("click", async () => {
      const text = tsv(table);
      try {
        await navigator.clipboard.writeText(text);
        tell("Copied");
      } catch {
        const area = document.createElement("textarea");
        area.value = text;
        document.body.append(area);
        area.select();
        tell(document.execCommand("copy") ? "Copied" : "This browser does not allow copying");
        area.remove();
        button.focus();
      }
    });
    table.closest(".scroll").after(button);
  };

  document.querySelectorAll("table.sortable").forEach(sortable);
  document.querySelectorAll("main table").forEach(copyable);

  /* A link to something folded away opens it. */
  const open = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    for (let place = target; place; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
  };
  addEventListener("hashchange", open);
  document.querySelectorAll('a[href^="#data-"]').forEach((link) => link.addEventListener("click", () => setTimeout(open)));
  open();

  /* The contents show where one is. */
  const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  links.forEach((_, id) => { const section = document.getElementById(id); if (section) seen.observe(section); });
})();
