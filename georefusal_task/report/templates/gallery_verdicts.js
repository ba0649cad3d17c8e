/* The gallery of verdicts: a reply is [verdict, outcome, status, reason, answer, place of its text]. */
gallery(({ data, make, raw, image, distinct }) => {
  const MARKS = { right: "✓" };
  const numbered = (names) => names.map((name, number) => [number, name]);
  return {
    filters: [
      ["outcome", numbered(data.outcomes), "any outcome"],
      ["gold", numbered(data.verdicts), "any"],
      ["said", [...numbered(data.verdicts), [-1, "no verdict"]], "anything"],
      ["category", distinct("category"), "any"],
      ["lever", distinct("lever"), "any"],
      ["intensity", distinct("intensity"), "any"],
    ],
    ofReplies: ["outcome", "said"],
    said: (reply) => reply[0],

    matches: (item, want) => (want.gold === "" || item.gold === data.verdicts[Number(want.gold)])
      && ["category", "lever", "intensity"].every((key) => want[key] === "" || item[key] === want[key]),

    replyMatches: (reply, want) => {
      if (want.outcome !== "" && reply[1] !== Number(want.outcome)) return false;
      if (want.said === "" || reply[0] === Number(want.said)) return true;
      /* an accepted second verdict stands on the diagonal of the matrix */
      return want.gold === want.said && data.outcomes[reply[1]] === "right";
    },

    picture: image,
    facts: (item) => [item.lever, item.intensity],

    gold: (line, item) => {
      const others = item.accept.filter((verdict) => verdict !== item.gold);
      line.append("Gold: ", make("strong", "", item.gold), item.answer ? ` (${item.answer})` : "");
      if (others.length) line.append(`; also accepted: ${others.join(", ")}`);
    },

    reply: (box, [verdict, number, status, reason, answer, text]) => {
      const outcome = data.outcomes[number];
      const what = make("p", "what", `${MARKS[outcome] ?? "✗"} ${verdict < 0 ? "no verdict" : data.verdicts[verdict]}`);
      const how = [outcome, status === "json" ? "" : status, reason.replaceAll("_", " ")].filter(Boolean).join(", ");
      box.append(what, make("p", "quiet", how), raw(text));
      if (answer) what.append(" (", make("bdi", "", answer), ")");
    },
  };
});
