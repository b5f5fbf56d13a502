/** The same by other means: as a call of curl, and as a command. */

/** A word of a shell, in quotes where it needs them. */
const word = (text: string): string =>
  /^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

export function asCurl(path: string, body?: unknown): string {
  const url = word(`${location.origin}${path}`);
  const head = `curl -H "Authorization: Bearer $HOLDFAST_KEY"`;
  return body === undefined
    ? `${head} ${url}`
    : `${head} -H "Content-Type: application/json" -d ${word(JSON.stringify(body))} ${url}`;
}

export const asCommand = (...parts: readonly string[]): string => ["holdfast", ...parts].map(word).join(" ");
