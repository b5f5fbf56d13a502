/** Values as text, alike where they mean the same: whoever made them, in whatever order their fields stand. */

/** Bytes of any make are alike, and a field that is undefined is none. */
export function canonical(value: unknown): string {
  return JSON.stringify(plain(value)) ?? "undefined";
}

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString("base64") };
  if (typeof value === "number" && !Number.isFinite(value)) return { number: String(value) };
  if (Array.isArray(value))
    return value.map((item) => (item === undefined ? { nothing: true } : plain(item)));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(
    fields.sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, field]) => [name, plain(field)]),
  );
}

const shownAround = 160;

/** Where two texts part, and what stands there in each. */
export function firstDifference(wanted: string, given: string): string {
  let at = 0;
  while (at < wanted.length && wanted[at] === given[at]) at++;
  const from = Math.max(0, at - shownAround / 2);
  const cut = (text: string) => text.slice(from, at + shownAround);
  return `\n  wanted …${cut(wanted)}\n  given  …${cut(given)}`;
}
