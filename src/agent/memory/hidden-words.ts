/**
 * An index of words that does not tell them. Each stands there as a keyed digest of itself, its tenant and its run: whoever has the
 * key finds the same texts as with the words themselves, and whoever has the store alone sees which facts of one memory share a
 * word, and how many words they have. Nothing can be compared between memories.
 */
import { createHmac } from "node:crypto";
import { HoldfastError } from "../../errors.ts";
import type { RunName } from "../../store/records.ts";
import type { Search } from "../../store/search.ts";

/** Shorter ones can be guessed. */
const keyBytesMin = 16;

/** A search whose words are hidden by a key, and what tells an index made with it from one made with another. */
export function hideWords(search: Search, given: string | Uint8Array): { search: Search; keyId: string } {
  const key = Buffer.from(given as Uint8Array);
  if (key.length < keyBytesMin)
    throw new HoldfastError(
      "FACT_INVALID",
      `The memory has a searchKey of ${key.length} bytes; give ${keyBytesMin} or more that nobody can guess`,
    );
  const digest = (...texts: readonly string[]) =>
    createHmac("sha256", key).update(JSON.stringify(texts)).digest("hex").slice(0, 32);
  const hide = ({ tenant, run }: RunName, words: readonly string[]) =>
    words.map((word) => digest(tenant, run, word));
  return {
    keyId: digest("which key this is").slice(0, 12),
    search: {
      writeWords: (name, change) => {
        const put = change.put.map(({ id, words }) => ({ id, words: hide(name, words) }));
        return search.writeWords({ tenant: name.tenant, run: name.run }, { ...change, put });
      },
      findWords: (name, words, limit) => search.findWords(name, hide(name, words), limit),
    },
  };
}
