// Order of the search's results: pages that teach before names, names before records.
var Scorer = {
  score: result => {
    const [page, title, anchor, text, score, file, kind] = result;
    const order = [  // the first match counts
      [/^(start|guide)\/(?!index$)/, 12],
      [/^gallery\/(?!.*index$)/, 6],
      [/^reference\/(api\/)?bindless\.(drivers|level_zero)|^reference\/(drivers|level_zero)/, -8],
      [/^internals\/(spec_coverage|changelog|contributing|releases)$/, -12],
      [/^measurements\//, -4],
    ];
    const match = order.find(([pages]) => pages.test(page));
    return score + (match ? match[1] : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
