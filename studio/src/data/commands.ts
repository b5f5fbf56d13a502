/**
 * The same by other means: as a call of curl, and as a command. What is copied works wherever it is pasted: it says where the
 * server is, and who asks. In dev mode that is the token; otherwise whoever pastes it has a key in HOLDFAST_KEY.
 */
import { useQuery } from "@tanstack/react-query";
import { client } from "./client.ts";

export interface Access {
  readonly url: string;
  /** That of dev mode. */
  readonly token: string | undefined;
}

export function useAccess(): Access {
  const { data } = useQuery({
    queryKey: ["me"],
    queryFn: ({ signal }) => client.me.show({}, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return { url: location.origin, token: data?.token };
}

/** A word of a shell, in quotes where it needs them. */
const word = (text: string): string =>
  /^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A request: its path with the query, and its body if it has one. */
export interface Call {
  readonly path: string;
  readonly body?: unknown;
}

export function asCurl({ url, token }: Access, { path, body }: Call): string {
  const key =
    token === undefined ? `"Authorization: Bearer $HOLDFAST_KEY"` : word(`Authorization: Bearer ${token}`);
  const head = `curl -H ${key}`;
  const place = word(`${url}${path}`);
  return body === undefined
    ? `${head} ${place}`
    : `${head} -H "Content-Type: application/json" -d ${word(JSON.stringify(body))} ${place}`;
}

/** A command as it is shown: short, as one would write it beside the server. */
export const asCommand = (parts: readonly string[]): string => ["holdfast", ...parts].map(word).join(" ");

/** A command as it is pasted. */
export const asPasted = ({ url, token }: Access, parts: readonly string[]): string =>
  asCommand([...parts, "--url", url, ...(token === undefined ? [] : ["--api-key", token])]);

/** The path of a run's routes. */
export const runPath = (run: string, rest = ""): string => `/v1/runs/${encodeURIComponent(run)}${rest}`;
