/** The large texts of one run: those that are stored already, and those that go out with its next commit. */
import { decode, encode } from "../../store/codec.ts";
import { type Contents, contentDigest } from "../../store/content.ts";
import type { Binding } from "../../store/journal.ts";
import type { ContentRow } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import type { HitCount } from "../profile/measure.ts";
import type { Owner, Seal } from "../seal.ts";
import type { LiveRun } from "./live-run.ts";

/** How a turn of a run is written: its bytes are closed, and large texts that are new are collected. */
export class FreshContents implements Omit<Binding, "open">, Contents {
  readonly rows: ContentRow[] = [];
  bytes = 0;
  /** The digests of what is new; most turns have nothing. */
  digests: Map<string, string> | undefined;
  readonly #run: LiveRun;
  readonly #seal: Seal;
  readonly #hits: HitCount | undefined;

  constructor(run: LiveRun, seal: Seal, hits?: HitCount) {
    this.#run = run;
    this.#seal = seal;
    this.#hits = hits;
  }

  get contents(): Contents {
    return this;
  }

  /** Forgets what was kept after so many rows: what it was for did not come about. */
  restore(rows: number): void {
    if (this.rows.length === rows) return;
    for (const { bytes } of this.rows.splice(rows)) this.bytes -= bytes.length;
    for (const text of [...(this.digests?.keys() ?? [])].slice(rows)) this.digests?.delete(text);
  }

  close(bytes: Uint8Array): Uint8Array {
    return this.#seal.close(bytes, this.#run.head);
  }

  keep(text: string): string {
    const known = this.#run.contents?.get(text) ?? this.digests?.get(text);
    if (known !== undefined) {
      this.#hits?.hit();
      return known;
    }
    this.#hits?.miss();
    const digest = contentDigest(text);
    const bytes = this.close(encode(text));
    this.rows.push({ digest, bytes });
    this.bytes += bytes.length;
    this.digests ??= new Map();
    this.digests.set(text, digest);
    return digest;
  }

  read(): undefined {
    return undefined;
  }
}

/** The texts of these digests, by digest; one that does not match its digest counts as missing. */
export async function fetchContents(
  store: Store,
  seal: Seal,
  owner: Owner,
  digests: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  if (digests.length === 0) return texts;
  for (const { digest, bytes } of await store.readContents(owner.tenant, owner.subject, [
    ...new Set(digests),
  ])) {
    const text = decode(seal.open(bytes, owner), `the content ${digest}`);
    if (typeof text === "string" && contentDigest(text) === digest) texts.set(digest, text);
  }
  return texts;
}
