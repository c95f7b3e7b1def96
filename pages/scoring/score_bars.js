// Scores and weights of every key under several functions, as one table of bars on common axes.
import { asPercent, isNew, minus } from "../../attention_core/attention/view/prelude.js";

const barCell = (name, from, share, value, at) =>
  `<td class="${name}"><div class="track"><i class="bar" style="left: ${from}%; width: ${share}%"></i><i class="zero"></i>` +
  `<span class="value" style="left: ${at}%">${value}</span></div></td>`;

const axisCell = (name, ticks) =>
  `<td class="${name}"><div class="axis track"><span>${ticks.join("</span><span>")}</span><span class="title">${name}</span></div></td>`;

export const drawBars = (root, { functions, keys, limit }) => {
  if (!isNew(root, functions, keys, limit)) return;
  const blocks = functions.map(({ name, formula, scores, weights }) => {
    const best = Math.max(...weights) * weights.length > 1.01 ? Math.max(...weights) : NaN;
    const rows = scores.map((score, key) => {
      const share = Math.min(1, Math.abs(score) / limit) * 50, from = score < 0 ? 50 - share : 50;
      const label = minus(score.toFixed(Math.abs(score) < 100 ? 2 : 0)), width = 100 * weights[key];
      return `<tr class="${weights[key] === best ? "best" : ""}"><td>${keys[key]}</td>` +
        barCell("score", from, share, label, score < 0 ? 50 : from + share) + barCell("weight", 0, width, asPercent(weights[key]), width) + "</tr>";
    });
    return `<tr><th colspan="3" scope="rowgroup"><b>${name}</b><span>${formula}</span></th></tr>${rows.join("")}`;
  });
  root.innerHTML = `<table aria-label="Score and weight of every key under each scoring function"><colgroup><col class="name">` +
    `<col class="score"><col class="weight"></colgroup><tbody>${blocks.join("")}</tbody><tfoot><tr><td></td>` +
    `${axisCell("score", [`−${limit}`, "0", limit])}${axisCell("weight", ["0", "50%", "100%"])}</tr></tfoot></table>`;
};
