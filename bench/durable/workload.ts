/** What every contestant does, durably: one run after the other, one that grows, and many at once. */

/** One way to keep runs on disk. */
export interface Contestant {
  open(path: string): Promise<Contestants>;
}

export interface Contestants {
  /** A run with about 1 KB of state, and a function that takes one durable step of it. */
  count(run: string): Promise<() => Promise<void>>;
  /** A run that keeps every message it is given. */
  converse(run: string): Promise<(text: string) => Promise<void>>;
  close(): Promise<void>;
}

export interface Figures {
  readonly perSecond: number;
  /** For the conversation: milliseconds of its first and last hundred steps. */
  readonly first?: number;
  readonly last?: number;
}

const message = "a message of four hundred bytes, more or less, as people write them to agents; ".repeat(5);

export const workloads: Readonly<Record<string, (on: Contestants) => Promise<Figures>>> = {
  /** 1,000 steps of one run, each awaited. */
  async sequential(on) {
    const step = await on.count("one");
    return timed(1_000, () => step());
  },
  /** 2,000 messages of about 400 bytes into one run, each awaited. */
  async conversation(on) {
    const say = await on.converse("talk");
    const marks: number[] = [];
    const figures = await timed(2_000, async (turn) => {
      if (turn % 100 === 0) marks.push(performance.now());
      await say(`${message}${turn}`);
    });
    marks.push(performance.now());
    const spans = marks.slice(1).map((mark, index) => mark - (marks[index] as number));
    return { ...figures, first: spans[0] as number, last: spans.at(-1) as number };
  },
  /** 1,000 runs of 10 steps each, all at once. */
  async many(on) {
    const runs = await Promise.all(Array.from({ length: 1_000 }, (_, index) => on.count(`run-${index}`)));
    const begun = performance.now();
    await Promise.all(
      runs.map(async (step) => {
        for (let turn = 0; turn < 10; turn++) await step();
      }),
    );
    return { perSecond: 10_000_000 / (performance.now() - begun) };
  },
};

async function timed(count: number, step: (turn: number) => Promise<void>): Promise<Figures> {
  const begun = performance.now();
  for (let turn = 0; turn < count; turn++) await step(turn);
  return { perSecond: (count * 1_000) / (performance.now() - begun) };
}
