/**
 * Topics: what a conversation was about, from where to where. A turn is compared with the words of the topic that is going
 * on, as TextTiling does with neighbouring blocks: little in common, or a phrase such as "by the way", begins another one;
 * words of an earlier topic bring that one back. What is kept is a few words for each topic; a turn costs the same however
 * many there were.
 */
import { fold, wordsOf } from "./words.ts";

export interface Topic {
  /** Its place in the list of topics. */
  readonly id: number;
  /** Its weightiest words, as they were said; weightiest first. */
  words: { word: string; said: string; weight: number }[];
  /** The turns it was talked about in: from and to, both included. */
  stretches: { from: number; to: number }[];
}

export interface Topics {
  /** How many turns there were. */
  turns: number;
  topics: Topic[];
  /** The topic that is going on; null before the first. */
  current: number | null;
}

export const emptyTopics = (): Topics => ({ turns: 0, topics: [], current: null });

/** Words of a topic that are remembered. */
const wordsMax = 24;
/** Topics that a turn may return to: those talked about last. */
const earlierMax = 8;
/** How much of its weight a word keeps from turn to turn. */
const keep = 0.85;
/** Below this a turn has too little in common with its topic; found on the conversations of the tests. */
const cohesionMin = 0.06;
/** From this on it belongs to an earlier one, */
const returnMin = 0.2;
/** and this much if it says so. */
const returnMinByCue = 0.08;
/** A turn of fewer words says nothing of its topic: "yes, please". */
const tellingMin = 3;

const another =
  /^(?:by the way|btw|on (?:a|an)other (?:note|topic)|on a different note|different question|(?:one|an)other (?:question|thing|topic)|new topic|changing the subject|switching (?:gears|topics)|something else|unrelated|anyway,|moving on|next topic|let(?:'|’)?s talk about)\b/;
const back = /\b(?:back to|returning to|as for|regarding|about the earlier|coming back to)\b/;

/** Takes in a turn, and returns the id of the topic it belongs to. */
export function trackTopic(topics: Topics, text: string): number {
  const turn = topics.turns++;
  const said = sayingsOf(text);
  const current = topics.current === null ? undefined : topics.topics[topics.current];
  const found = current === undefined ? undefined : topicOf(topics, current, text, said);
  const topic = found ?? begin(topics);
  topics.current = topic.id;
  extend(topic, turn);
  learn(topic, said);
  return topic.id;
}

/** A topic's name, for people: the words that were said of it most. */
export const labelOf = ({ words }: Topic): string =>
  words
    .slice(0, 3)
    .map(({ said }) => said)
    .join(", ");

/** The topic a turn belongs to; undefined for a new one. */
function topicOf(
  topics: Topics,
  current: Topic,
  text: string,
  said: ReadonlyMap<string, string>,
): Topic | undefined {
  const start = fold(text).trimStart();
  const isAnother = another.test(start);
  if (said.size < tellingMin && !isAnother) return current;
  const own = cohesion(current, said);
  const earlier = recentTopics(topics, current)
    .map((topic) => ({ topic, score: cohesion(topic, said) }))
    .sort((one, other) => other.score - one.score)[0];
  const isBack = back.test(start);
  if (earlier !== undefined && earlier.score > own && earlier.score >= (isBack ? returnMinByCue : returnMin))
    return earlier.topic;
  return isAnother || own < cohesionMin ? undefined : current;
}

function recentTopics({ topics }: Topics, current: Topic): Topic[] {
  const last = ({ stretches }: Topic) => stretches.at(-1)?.to ?? 0;
  // The newest of the list, and not all of it: what a turn costs must not grow.
  return topics
    .slice(-4 * earlierMax)
    .filter(({ id }) => id !== current.id)
    .sort((one, other) => last(other) - last(one))
    .slice(0, earlierMax);
}

function begin(topics: Topics): Topic {
  topics.topics.push({ id: topics.topics.length, words: [], stretches: [] });
  return topics.topics.at(-1) as Topic;
}

function extend({ stretches }: Topic, turn: number): void {
  const last = stretches.at(-1);
  if (last?.to === turn - 1) last.to = turn;
  else stretches.push({ from: turn, to: turn });
}

/** The words of a turn that tell of a topic, each as it was said first. */
function sayingsOf(text: string): Map<string, string> {
  const said = new Map<string, string>();
  for (const [word] of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    const [stem] = wordsOf(word, { content: true });
    if (stem !== undefined && !said.has(stem)) said.set(stem, word.toLowerCase());
  }
  return said;
}

/** The cosine of a turn and a topic. */
function cohesion({ words }: Topic, said: ReadonlyMap<string, string>): number {
  let common = 0;
  let square = 0;
  for (const { word, weight } of words) {
    square += weight * weight;
    if (said.has(word)) common += weight;
  }
  return common === 0 ? 0 : common / Math.sqrt(square * said.size);
}

function learn(topic: Topic, said: ReadonlyMap<string, string>): void {
  const known = new Set(topic.words.map(({ word }) => word));
  const before = topic.words.map(({ word, said: form, weight }) => ({
    word,
    said: form,
    weight: weight * keep + (said.has(word) ? 1 : 0),
  }));
  const added = [...said].flatMap(([word, form]) =>
    known.has(word) ? [] : [{ word, said: form, weight: 1 }],
  );
  topic.words = [...before, ...added].sort((one, other) => other.weight - one.weight).slice(0, wordsMax);
}
