/**
 * Bytes as people can read them. A store may not change bytes, so they are shown as JSON only where that very JSON gives
 * them back; all others, as those that are compressed or sealed, are shown in base64.
 */
import type { Json } from "../../core/json.ts";
import { plainBytes, plainText } from "../codec.ts";

/** Bytes in a file. */
export type Shown = { readonly json: Json } | { readonly base64: string };

export function show(bytes: Uint8Array): Shown {
  const text = plainText(bytes);
  if (text !== undefined) {
    try {
      const json = JSON.parse(text) as Json;
      // Spaces, fields given twice, numbers like `1e2` and fields named by numbers may come back in another way.
      if (JSON.stringify(json) === text) return { json };
    } catch {
      // Not JSON, or nested deeper than the stack: then it is not shown as such.
    }
  }
  return { base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64") };
}

/** The bytes that `show` was given. Throws if these are not shown bytes. */
export function hide(shown: unknown): Uint8Array {
  const { json, base64 } = shown as { readonly json?: Json; readonly base64?: unknown };
  if (typeof base64 === "string") return Buffer.from(base64, "base64");
  if (json === undefined) throw new Error("there are no bytes");
  return plainBytes(JSON.stringify(json));
}
