/**
 * The ledger of critical sections, kept where no process can be killed: who was told that it has a lease, from when to when, and
 * how many turns others had meanwhile.
 *
 * S1. Sections of one name never overlap. One ends when it is left, when its process is killed, or when its lease is over.
 * S2. A lease lasts as long as was asked for, and its token is higher than those before it.
 * S3. A late write is fenced, and none in time.
 * S4. Nobody waits longer than so many turns of others.
 */

/** A line that is said of a section: it is asked for, entered, and left; a write in it was fenced; what became of a late one. */
export type SectionSaid = { readonly section: string } & (
  | {
      readonly client: string;
      readonly names: readonly string[];
      readonly asked: number;
      readonly ms: number;
    }
  | { readonly entered: number; readonly token: number; readonly until: number }
  | { readonly left: number }
  | { readonly fenced: number }
  | { readonly late: string }
);

interface Section {
  readonly section: string;
  readonly client: string;
  readonly names: readonly string[];
  readonly asked: number;
  readonly ms: number;
  readonly entered?: number;
  readonly token?: number;
  readonly until?: number;
  readonly left?: number;
  readonly fenced?: number;
  readonly late?: string;
}

/** Clocks of processes may differ by as much. */
const slackMs = 100;

type Entered = Section & { readonly entered: number; readonly token: number; readonly until: number };

export class Sections {
  readonly #sections = new Map<string, Section>();
  /** When the processes that were killed were. */
  readonly #killed = new Map<string, number>();

  hear(said: SectionSaid): void {
    this.#sections.set(said.section, { ...this.#sections.get(said.section), ...said } as Section);
  }

  killed(client: string, at: number): void {
    this.#killed.set(client, at);
  }

  get figures(): { readonly sections: number; readonly late: number; readonly turns: number } {
    const entered = this.#entered();
    return {
      sections: entered.length,
      late: entered.filter(({ late }) => late !== undefined).length,
      turns: Math.max(0, ...entered.map((one) => turnsBefore(one, entered))),
    };
  }

  /** What is wrong. */
  check(turnsMax: number): string[] {
    const entered = this.#entered();
    return [
      ...this.#overlaps(entered),
      ...entered.flatMap((one) => this.#problemsOf(one)),
      ...entered.flatMap((one) => {
        const turns = turnsBefore(one, entered);
        return turns > turnsMax ? [`S4: ${nameOf(one)} waited for ${turns} turns of others`] : [];
      }),
    ];
  }

  #entered(): Entered[] {
    const all = [...this.#sections.values()].filter((one): one is Entered => one.entered !== undefined);
    return all.sort((one, other) => one.entered - other.entered);
  }

  #endOf({ client, left, until }: Entered): number {
    return Math.min(left ?? this.#killed.get(client) ?? Number.POSITIVE_INFINITY, until - slackMs);
  }

  #overlaps(entered: readonly Entered[]): string[] {
    return entered.flatMap((one, index) => {
      const end = this.#endOf(one);
      const problems: string[] = [];
      for (let next = index + 1; next < entered.length; next++) {
        const other = entered[next] as Entered;
        if (!share(one, other)) continue;
        if (other.entered < end && one.entered < this.#endOf(other))
          problems.push(`S1: ${nameOf(one)} had not ended when ${nameOf(other)} was entered`);
        // Whoever hears of its lease when that is over enters nothing.
        if (other.token <= one.token && other.entered > one.entered && other.entered < other.until)
          problems.push(`S2: ${nameOf(other)} came after ${nameOf(one)}, and its token is no higher`);
        if (problems.length > 0) break;
      }
      return problems;
    });
  }

  #problemsOf(one: Entered): string[] {
    const { asked, ms, until, fenced, late } = one;
    const problems: string[] = [];
    if (until < asked + ms - slackMs)
      problems.push(`S2: ${nameOf(one)} was to last ${ms} ms, and ended before`);
    if (fenced !== undefined && fenced < until - slackMs)
      problems.push(`S3: ${nameOf(one)} was fenced in its time`);
    if (late !== undefined && late !== "fenced")
      problems.push(`S3: a late write of ${nameOf(one)} was ${late}`);
    return problems;
  }
}

const share = (one: Section, other: Section): boolean => one.names.some((name) => other.names.includes(name));

/** How many others entered what somebody wanted, while it waited. */
const turnsBefore = (one: Entered, entered: readonly Entered[]): number =>
  entered.filter(
    (other) => other !== one && share(one, other) && other.entered > one.asked && other.entered < one.entered,
  ).length;

const nameOf = ({ section, names, token }: Entered): string =>
  `${section} (${names.join(" and ")}, token ${token})`;
