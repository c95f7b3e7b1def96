// What a scene says of each state, in a sentence that is true of the numbers shown. Between pairs of ** it is bold.
import { asPercent } from "./prelude.js";

const SHARP = 0.995, MANY = 10, MAX_NAMED = 3, ALIKE = 1.05, SURE = 0.5, SHORT_VALUE = 0.35;
const SHORT = 11;  // keys of a short sentence, the full stop and the end among them

export const quoted = (text) => `“${text}”`;

// Some keys by their indices, the first of them by name.
export const namesOf = (keys, indices) => {
  const names = indices.slice(0, MAX_NAMED).map((index) => quoted(keys[index])).join(", ");
  return indices.length > MAX_NAMED ? `${names} and ${indices.length - MAX_NAMED} more` : names;
};

// Keys that stand side by side as one text.
const phrasesOf = (keys, indices) => indices.filter((key) => !indices.includes(key - 1)).map((start) => keys.slice(start, start + keys.slice(start).findIndex((_, at) => !indices.includes(start + at + 1)) + 1).join(" "));

// The two strongest keys of a query, its strongest first.
const strongestTwo = (weights) => [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, 2);

const captionOfVector = ({ keys, vector }, { press, lost }) => {
  if (press < 1) return `Without attention the whole sentence is squeezed into **one vector** of ${vector.size} numbers.`;
  const heading = "Out of this one vector comes", { english, words, lostText, wrong, isEnough } = vector;
  if (lost <= 0) return `${heading} a French sentence.`;
  const said = english ? `${heading}, in English: ${quoted(english)}` : `${heading} ${quoted(words.slice(0, -1).join(" "))}`;
  if (lostText) return `${said} **${lostText}** ${lostText.includes(",") ? "are" : "is"} lost.`;
  if (isEnough) return `${said} Here one vector is **enough**${keys.length <= SHORT ? ": the sentence is short" : ""}.`;
  return wrong.length ? `${said} The sentence says nothing of **${wrong.map((at) => words[at]).join(", ")}**.` : said;
};

const captionOfWeights = ({ keys }, { weights, percents, scores, isEven, local, isChanged, progress }) => {
  const [first, second] = strongestTwo(weights);
  if (isEven) return `All get the **same weight**, whatever their score: ${percents[first]} each.`;
  if (progress.divide < 0.5) return "**Softmax** makes high scores stand out: e to the power of each, so that 3 more counts 20 times as much.";
  if (second === undefined || weights[second] <= 0) return `Divided by their sum they are **weights**. All of it goes to ${quoted(keys[first])}.`;
  if (local || isChanged) return `These are the **weights**: ${percents[first]} for ${quoted(keys[first])}.`;
  const isAlike = (index) => weights[first] < ALIKE * weights[index], shared = [...weights.keys()].filter((index) => weights[index] > 0), areAlike = shared.length > 2 && shared.every(isAlike);
  const last = areAlike ? shared.reduce((a, b) => (weights[b] < weights[a] ? b : a)) : second, who = areAlike ? "All" : `${quoted(keys[first])} and ${quoted(keys[second])}`;
  const [high, low] = [first, last].map((index) => +scores[index].toFixed(2)), times = Math.exp(high - low);
  const fit = high === low ? "fit equally: equal weights" : "fit almost equally: almost the same weight";
  if (times < ALIKE) return `Divided by their sum they are **weights**. ${who} ${fit}.`;
  const much = `${times < MANY ? times.toFixed(1) : Math.round(times).toLocaleString("en")} times its weight`;
  return `Divided by their sum they are **weights**. ${quoted(keys[first])} leads ${quoted(keys[second])} by ${(high - low).toFixed(2)}: ${much}.`;
};

// A word, or a mark in quotation marks.
const named = (word) => (/[\p{L}\p{N}]/u.test(word) ? word : quoted(word));

// What is said, how likely it is, and what would be likelier, or how likely the next is.
export const saidOf = ({ word, probability, isNear, rival, next, likeliest }) => {
  const likely = probability === undefined ? "" : ` (${isNear ? "about " : ""}${asPercent(probability)})`;
  const second = next?.[1] <= probability ? `, the runner-up, ${quoted(next[0])}, has ${asPercent(next[1])}` : `, no other French word has more than ${Math.ceil(100 * likeliest)}%`;
  const others = !rival && probability < SURE ? second : "";
  return `**${named(word)}**${likely}${others}${rival ? `: the whole sentence fits better with it than with ${quoted(rival)}` : ""}`;
};

// Where the query looked, once it has taken; `before` are the weights that it had before a change.
const captionOfLook = ({ keys, queries, axes, firsts, before, lengths }, { row, percents, weights }, first) => {
  if (weights[first] <= 0) return `**${quoted(queries[row])} looks at nothing**: it may see no key.`;
  const isItself = axes && axes[0] === axes[1] && firsts[row] === first, where = isItself ? "itself" : quoted(keys[first]);
  return `**${quoted(queries[row])} looks most at ${where}**: ${percents[first]} of its weight.${lengths?.[first] < SHORT_VALUE ? " It takes little there: that **value is short**, its ribbon pale." : ""}${before?.row === row ? ` Dashed: ${before.says}.` : ""}`;
};

const captionOfAnswer = (data, state) => {
  const { keys } = data, { weights, percents, isEven, local, answer, isNarrow, canChange } = state, [first] = strongestTwo(weights);
  const from = weights[first] > SURE ? `Mostly from ${quoted(keys[first])} (${percents[first]})` : "From this mixture";
  const comes = answer ? `comes ${saidOf(answer)}.` : "comes …";
  if (isEven) return `With the same weight for all, out ${comes}`;
  if (state.isChanged && !local && !state.cut.length) return `With the weights as you set them, out ${comes}`;
  if (local && local.weight <= 0) return `Without ${quoted(keys[local.key])}, ${quoted(keys[first])} has ${percents[first]}, and out ${comes}`;
  if (local) return `With ${percents[local.key]} of ${quoted(keys[local.key])}, out ${comes}`;
  if (state.cut.length) return `Without ${namesOf(keys, state.cut)}, ${quoted(keys[first])} has ${percents[first]}, and out ${comes}`;
  if (!canChange) {
    const { lost } = data.vector ?? { lost: [] }, phrases = phrasesOf(keys, lost);
    const loss = ` **Without attention ${namesOf(phrases, [...phrases.keys()])}** ${phrases.length > 1 ? "are" : "is"} lost.`, hasLoss = data.bothSaid ? lost.length : lost.includes(first);
    const weighs = `To write **${answer && named(answer.word)}**, the network weighs every ${data.nouns[1]}: ${quoted(keys[first])} gets ${percents[first]}.`;
    return `${data.bothSaid ? weighs : `${from} ${comes}`}${hasLoss ? loss : ""}`;
  }
  if (keys.length === 1) return `Out of ${quoted(keys[0])} ${comes} A single ${data.nouns[1]} has nothing to share out: it gets 100% in any case.`;
  if (data.tail !== undefined) return `${from} ${comes}${data.tail}`;
  const invite = weights[first] < SHARP + 0.01 ? ` Now pull ${quoted(keys[first])} ${isNarrow ? "to the left" : "down"}, or cross it out by a click.` : "";
  return `${from} ${comes}${invite}`;
};

// The sentence for a step. `state` has what is drawn, and what the visitor has changed.
export const captionOf = (step, data, state) => {
  const { keys, queries, nouns: [, key] } = data, { row, progress, weights, percents, isEven } = state;
  if (step === "vector") return captionOfVector(data, progress);
  if (step === "asks") {
    if (!data.answers) return `${quoted(queries[row])} is the query: it **asks every ${key}**.`;
    const before = queries.slice(0, row).join(" ");
    return `${row ? `After “${before}”, what comes next?` : "What comes first?"} A **query** asks **every ${key}**.`;
  }
  if (step === "scores") return `Each ${key} gets a **score**: how well it fits the query.`;
  if (step === "softmax") return captionOfWeights(data, state);
  if (step === "takes") {
    if (isEven) return `Each ${key} hands over its numbers, **one part in ${weights.filter((weight) => weight > 0).length} of each**.`;
    const [first] = strongestTwo(weights);
    if (!data.answers && progress.blend >= 1) return captionOfLook(data, state, first);
    return `Each ${key} hands over its numbers, **as much of them as its weight**. ${percents[first]} is from ${quoted(keys[first])}.`;
  }
  return captionOfAnswer(data, state);
};
