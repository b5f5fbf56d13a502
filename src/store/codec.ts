/**
 * JSON to bytes and back. Closed: plain JSON and nothing else, no tags inside user data. Bytes are assumed hostile on
 * the way in: what is too large, too deep, cut short or not ours is refused with STORE_CORRUPT, never half-read.
 *
 * The first byte says how the rest is written: 0 as it is, 1 compressed with zstd.
 */
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { type Json, toJson } from "../core/json.ts";
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";

const plain = 0;
const compressed = 1;

/** JSON as bytes; large values are compressed. Throws VALUE_TOO_LARGE beyond `limits.valueBytesMax`. */
export function encode(value: Json): Uint8Array {
  return encodeSized(value).bytes;
}

/** The same, with the size it had before compression: what it will cost to read. */
export function encodeSized(value: Json): { readonly bytes: Uint8Array; readonly size: number } {
  const text = Buffer.from(JSON.stringify(value), "utf8");
  return { bytes: pack(text), size: text.length };
}

function pack(text: Buffer): Uint8Array {
  if (text.length > limits.valueBytesMax) {
    throw new HoldfastError(
      "VALUE_TOO_LARGE",
      `A value of ${text.length} bytes is more than a store keeps in one piece (${limits.valueBytesMax}); keep large files elsewhere and refer to them`,
    );
  }
  if (text.length >= limits.compressedBytesMin) {
    const packed = zstdCompressSync(text);
    if (packed.length < text.length) return withHeader(compressed, packed);
  }
  return withHeader(plain, text);
}

function withHeader(kind: number, body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(body.length + 1);
  bytes[0] = kind;
  bytes.set(body, 1);
  return bytes;
}

/** The JSON that `encode` made these bytes from. `what` names it in the error. */
export function decode(bytes: Uint8Array, what: string): Json {
  try {
    const text = unpack(bytes).toString("utf8");
    return toJson(JSON.parse(text), [], what, undefined, limits.jsonDepthMax + limits.recordDepthMax);
  } catch (cause) {
    throw new HoldfastError("STORE_CORRUPT", `${what} cannot be read: its stored bytes are damaged`, {
      cause,
    });
  }
}

function unpack(bytes: Uint8Array): Buffer {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset + 1, bytes.byteLength - 1);
  if (bytes[0] === plain) return body;
  if (bytes[0] === compressed) return zstdDecompressSync(body, { maxOutputLength: limits.valueBytesMax });
  throw new Error(`unknown encoding ${bytes[0]}`);
}
