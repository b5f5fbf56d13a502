/**
 * A summary without a model: the sentences that matter most, as they were said. Decisions and what is still open come
 * first; the rest by recency × who said it × how often it was taken up × how much it adds to what is kept already.
 */
import type { Message } from "../thread/message.ts";
import { textOf } from "../thread/message.ts";
import type { Overlay } from "../thread/thread.ts";
import { wordsOf } from "../thread/words.ts";
import type { Counter } from "./tokens.ts";

export interface ExtractOptions {
  readonly messages: readonly Message[];
  /** A summary of what came before, made by this function or not; its lines compete with the new ones. */
  readonly previous?: Overlay | null;
  /** At most so many tokens. */
  readonly tokens: number;
  readonly count: Counter;
}

const sections = { decided: "Decided:", open: "Open:", said: "Said:", tools: "Tools used:" } as const;
type Section = keyof typeof sections;

interface Candidate {
  readonly section: Section;
  readonly line: string;
  readonly words: ReadonlySet<string>;
  readonly order: number;
  score: number;
}

const decided =
  /\b(decid|agree[ds]?\b|decision|we('| wi)ll\b|let's|go with|chose|chosen|settled|approved|confirmed|must\b|never\b|always\b|prefer|remember\b|deadline|instead of)/i;
const open =
  /\b(to ?do\b|open (question|point|item)|pending|unresolved|not yet|still (need|have|has|to)|needs? to|follow[- ]up|next step|waiting (for|on)|remind|blocked|later\b|unclear)/i;
const roleWeight = { user: 1, assistant: 0.7, tool: 0, system: 0 };
/** After so many messages a sentence counts half; as in windows. */
const halfLifeMessages = 32;
const lineLengthMax = 240;
/** Sentences that are compared with each other: several times what a summary holds. */
const candidatesMax = 400;

/** The summary, within its tokens; of at least one line, however few those are. */
export function extractSummary({ messages, previous, tokens, count }: ExtractOptions): string {
  const before = previous === null || previous === undefined ? [] : linesOf(previous.text);
  const candidates = [...before, ...sentencesOf(messages, before.length)];
  weigh(candidates);
  const kept = choose(candidates, toolLine(messages, previous?.text), tokens, count);
  return render(kept);
}

/** The lines of a summary of ours under their headings; those of any other as things said. */
function linesOf(text: string): Candidate[] {
  let section: Section = "said";
  return text.split("\n").flatMap((line, order) => {
    const heading = (Object.keys(sections) as Section[]).find((name) => line.startsWith(sections[name]));
    if (heading !== undefined) section = heading;
    if (heading !== undefined || line.trim() === "") return [];
    return [candidate(section, line.replace(/^- /, ""), order, 1)];
  });
}

const candidate = (section: Section, text: string, order: number, score: number): Candidate => {
  const line = text.length > lineLengthMax ? `${text.slice(0, lineLengthMax - 1)}…` : text;
  return { section, line, order, score, words: new Set(wordsOf(line, { content: true })) };
};

function sentencesOf(messages: readonly Message[], first: number): Candidate[] {
  let order = first;
  return messages.flatMap((message, index) => {
    const weight = roleWeight[message.role] * 2 ** ((index - messages.length) / halfLifeMessages);
    if (weight === 0) return [];
    return sentences(textOf(message)).flatMap((sentence) => {
      const section = decided.test(sentence) ? "decided" : open.test(sentence) ? "open" : "said";
      const made = candidate(section, `${message.role}: ${sentence}`, order++, weight);
      return made.words.size < 3 ? [] : [made];
    });
  });
}

const sentences = (text: string): string[] =>
  text
    .replace(/```.*?(```|$)/gs, " ")
    .split(/(?<=[.!?。！？])\s+|\n+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");

/** Adds what others took up: a word that several sentences share, though not all, is what they were about. */
function weigh(candidates: readonly Candidate[]): void {
  const having = new Map<string, number>();
  for (const { words } of candidates) for (const word of words) having.set(word, (having.get(word) ?? 0) + 1);
  for (const made of candidates) {
    const shared = [...made.words].reduce(
      (sum, word) => sum + Math.log((having.get(word) ?? 1) as number),
      0,
    );
    made.score *= 1 + shared / Math.max(4, made.words.size);
  }
}

/** What is decided or open goes before anything that was merely said. */
const weightOf = ({ section, score }: Candidate): number => score * (section === "said" ? 1 : 8);

/** Takes the best of what is left, again and again; what says the same as a line that is taken counts less. */
function choose(
  candidates: readonly Candidate[],
  tools: string | undefined,
  tokens: number,
  count: Counter,
): readonly Candidate[] {
  const kept: Candidate[] = tools === undefined ? [] : [candidate("tools", tools, 0, 0)];
  const said = new Set<string>();
  const rest = candidates
    .filter(({ section }) => section !== "tools")
    .sort((one, other) => weightOf(other) - weightOf(one))
    .slice(0, candidatesMax);
  let room = tokens - count.text(Object.values(sections).join("\n")) - count.text(tools ?? "");
  const worth = (made: Candidate) => {
    const fresh = [...made.words].filter((word) => !said.has(word)).length / Math.max(1, made.words.size);
    return weightOf(made) * fresh * fresh;
  };
  while (rest.length > 0) {
    const worths = rest.map(worth);
    const index = worths.indexOf(Math.max(...worths));
    const [best] = rest.splice(index, 1) as [Candidate];
    const cost = count.text(`- ${best.line}\n`);
    if ((worths[index] as number) <= 0) break;
    if (cost > room && kept.length > 0) continue;
    room -= cost;
    kept.push(best);
    for (const word of best.words) said.add(word);
  }
  return kept;
}

/** Which tools were called how often, what the summary before says included. */
function toolLine(messages: readonly Message[], previous: string | undefined): string | undefined {
  const calls = new Map<string, number>();
  const add = (tool: string, times: number) => calls.set(tool, (calls.get(tool) ?? 0) + times);
  const line = previous?.split("\n").find((text) => text.startsWith(sections.tools));
  for (const [, tool = "", times = ""] of line?.matchAll(/([^\s,]+) ×(\d+)/g) ?? []) add(tool, Number(times));
  for (const { parts } of messages) for (const part of parts) if (part.type === "call") add(part.tool, 1);
  if (calls.size === 0) return undefined;
  return [...calls].map(([tool, times]) => `${tool} ×${times}`).join(", ");
}

function render(kept: readonly Candidate[]): string {
  const blocks = (Object.keys(sections) as Section[]).flatMap((name) => {
    const lines = kept
      .filter(({ section }) => section === name)
      .sort((one, other) => one.order - other.order);
    if (lines.length === 0) return [];
    if (name === "tools") return [`${sections.tools} ${lines[0]?.line}`];
    return [[sections[name], ...lines.map(({ line }) => `- ${line}`)].join("\n")];
  });
  return blocks.length === 0 ? "Nothing of note was said." : blocks.join("\n");
}
