/**
 * JSON to bytes and back. Closed: plain JSON and nothing else, no tags inside user data. Bytes are assumed hostile on
 * the way in: what is too large, too deep, cut short or not ours is refused with STORE_CORRUPT, never half-read.
 *
 * The first byte says how the rest is written: 0 as it is, 1 compressed with zstd. Four more are its sum (CRC-32), so
 * that no flipped bit is ever read as another value, be it in a row that no chain of digests covers.
 */
import { crc32, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { type Json, toJson } from "../core/json.ts";
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";

const plain = 0;
const compressed = 1;
const headerBytes = 5;

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
  const bytes = new Uint8Array(body.length + headerBytes);
  bytes[0] = kind;
  new DataView(bytes.buffer).setUint32(1, crc32(body));
  bytes.set(body, headerBytes);
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
  if (bytes.length < headerBytes) throw new Error(`only ${bytes.length} bytes`);
  const body = Buffer.from(bytes.buffer, bytes.byteOffset + headerBytes, bytes.byteLength - headerBytes);
  const sum = new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
  if (crc32(body) !== sum) throw new Error("another sum than was written");
  if (bytes[0] === plain) return body;
  if (bytes[0] === compressed) return zstdDecompressSync(body, { maxOutputLength: limits.valueBytesMax });
  throw new Error(`unknown encoding ${bytes[0]}`);
}
