/** The large texts of one run: those that are stored already, and those that go out with its next commit. */
import { decode, encode } from "../store/codec.ts";
import { type Contents, contentDigest } from "../store/content.ts";
import type { ContentRow } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import type { Owner, Seal } from "./seal.ts";

/** Contents while a turn is recorded: what is new is collected. */
export class FreshContents implements Contents {
  readonly rows: ContentRow[] = [];
  /** The digests of what is new. */
  readonly digests = new Map<string, string>();
  readonly #known: ReadonlyMap<string, string> | undefined;
  readonly #close: (bytes: Uint8Array) => Uint8Array;

  constructor(known: ReadonlyMap<string, string> | undefined, close: (bytes: Uint8Array) => Uint8Array) {
    this.#known = known;
    this.#close = close;
  }

  keep(text: string): string {
    const known = this.#known?.get(text) ?? this.digests.get(text);
    if (known !== undefined) return known;
    const digest = contentDigest(text);
    this.rows.push({ digest, bytes: this.#close(encode(text)) });
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
