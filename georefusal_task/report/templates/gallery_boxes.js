/* The gallery of boxes: pictures under the annotated objects and under what the models drew, in original pixels. */
gallery(({ data, make, raw, image, distinct, at }) => {
  const SVG = "http://www.w3.org/2000/svg";
  const TALLEST = 24; /* rem */
  const numbered = (names) => names.map((name, number) => [number, name]);
  const classes = [...new Set(data.items.flatMap((item) => item.classes))].sort().map((name) => [name, name]);

  /* Each line twice: a dark one below keeps it visible on any picture. */
  const line = (kind, shape) => ["below", kind].map((name) => {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("class", name);
    path.setAttribute("d", shape);
    return path;
  });
  const corners = (numbers) => {
    const pairs = [];
    for (let i = 0; i < numbers.length; i += 2) pairs.push(`${numbers[i]} ${numbers[i + 1]}`);
    return pairs;
  };
  const outline = (kind, numbers) => line(kind, `M${corners(numbers).join("L")}Z`);

  const drawn = (place, models) => {
    const [width, height] = data.items[place].size;
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("preserveAspectRatio", "none"); /* the picture's sides were rounded, its outlines must not drift */
    svg.setAttribute("role", "img");
    const [first, second = []] = data.instances[place];
    svg.append(...first.flatMap((one) => outline("gold", one)), ...second.flatMap((one) => outline("gold other", one)));
    let regions = 0;
    for (const run of models) {
      const reply = at(place, run);
      if (!reply) continue;
      regions += reply.regions.length;
      svg.append(...reply.regions.flatMap((one) => outline(`region run${run % 8}`, one)));
      svg.append(...corners(reply.dots).flatMap((centre) => line("dot", `M${centre}h0`)));
    }
    svg.setAttribute("aria-label", `${first.length + second.length} annotated objects and ${regions} predicted regions`);
    return svg;
  };

  const counted = (names, covered, annotated) =>
    names.map((name, number) => `${covered[number]} of ${annotated[number]} (${name})`).join(", ");

  return {
    filters: [
      ["type", data.types.filter((type) => data.items.some((item) => item.type === type)).map((type) => [type, type]), "any"],
      ["class", classes, "any"],
      ["outcome", numbered(data.outcomes), "any"],
      ["support", [...numbered(data.support), ["yes", "borne out"]], "any"],
      ["scored", [["yes", "yes"], ["no", "no"]], "all"],
    ],
    ofReplies: ["outcome", "support", "scored"],
    said: (reply) => reply.answer,

    matches: (item, want) => (want.type === "" || item.type === want.type)
      && (want.class === "" || item.classes.includes(want.class)),

    replyMatches: (reply, want) => (want.outcome === "" || reply.outcome === Number(want.outcome))
      && (want.support === "" || (want.support === "yes" ? reply.support < 2 : reply.support === Number(want.support)))
      && (want.scored === "" || reply.scored === (want.scored === "yes")),

    picture: (place, models) => {
      const [width, height] = data.items[place].size;
      const frame = make("div", "drawn");
      frame.style.aspectRatio = `${width} / ${height}`;
      frame.style.width = `min(100%, ${(TALLEST * width / height).toFixed(2)}rem)`;
      frame.append(...[image(place), drawn(place, models)].filter(Boolean));
      return frame;
    },

    facts: (item) => [item.type, item.classes.join(" and "), `${item.size[0]} × ${item.size[1]} px`],

    gold: (line, item) => line.append("Gold: ", make("strong", "", item.gold)),

    reply: (box, reply, place, run) => {
      const item = data.items[place];
      box.querySelector(".who").prepend(make("span", `swatch run${run % 8}`));
      const what = make("p", "what", reply.outcome === 0 ? "✓ " : "✗ ");
      what.append(make("bdi", "", reply.answer || "no answer"), ` (${data.outcomes[reply.outcome]}), ${data.support[reply.support]}`);
      const many = reply.predicted === 1 ? "region" : "regions";
      const facts = [
        `covered: ${counted(item.classes, reply.covered, reply.annotated)}`,
        `${reply.predicted} ${many}, ${reply.matched} at IoU ≥ 0.5, ${(100 * reply.area).toFixed(1)} % of the image`,
        ...(reply.regions.length < reply.predicted ? [`${reply.regions.length} are drawn`] : []),
        ...Object.entries(reply.flags).map(([flag, count]) => `${flag}: ${count}`),
        ...(reply.scored ? [] : ["support is not scored: the true answer is no"]),
      ];
      const texts = Object.entries(reply.texts);
      const names = { answer: "Raw answer", grounding: "Raw boxes" };
      box.append(what, make("p", "quiet", facts.join("; ")), ...texts.map(([turn, place]) => raw(place, names[turn])));
    },
  };
});
