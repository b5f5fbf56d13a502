/**
 * Studio's files: static, with hashed names that never change, and `index.html` for every page of it. Files are beside
 * `index.html` or in `assets/`, and pages are elsewhere: a page is named after a run, whose name may look like a file's.
 */
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { HoldfastError } from "../errors.ts";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".wasm": "application/wasm",
  ".txt": "text/plain; charset=utf-8",
};

/** Nothing from elsewhere, no script that stands in a page, and in nobody's frame. */
const policy = [
  ...[
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self' blob:",
    "style-src 'self' 'unsafe-inline'",
  ],
  ...["img-src 'self' data:", "font-src 'self'", "connect-src 'self'", "manifest-src 'self'"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join("; ");

/** The file of a path, or the page for it. Without a folder there is nothing. */
export async function studioFile(folder: string | undefined, path: string): Promise<Response> {
  if (folder === undefined)
    throw new HoldfastError("ROUTE_UNKNOWN", "There is nothing here; the routes are in /openapi.json");
  const asked = normalize(decoded(path)).replace(/^[/\\]+/, "");
  if (/^(assets\/|[^/]*\.\w+$)/.test(asked)) return fileOf(folder, asked);
  const page = await readFile(join(folder, "index.html")).catch(() => undefined);
  if (page === undefined)
    throw new HoldfastError("ROUTE_UNKNOWN", "Studio is not built here; npm run build makes it");
  return fileResponse(page, "index.html");
}

/** A file that is not there is no page. */
async function fileOf(folder: string, asked: string): Promise<Response> {
  const isName = /^(assets\/)?[\w@.-]+\.\w+$/.test(asked);
  const found = isName ? await readFile(join(folder, asked)).catch(() => undefined) : undefined;
  if (found === undefined)
    throw new HoldfastError("ROUTE_UNKNOWN", `There is no ${JSON.stringify(`/${asked}`)}`);
  return fileResponse(found, asked);
}

/** A path as it is meant; what cannot be decoded is no page. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new HoldfastError("ROUTE_UNKNOWN", `${JSON.stringify(path)} is no path`);
  }
}

function fileResponse(bytes: Uint8Array<ArrayBuffer>, name: string): Response {
  const isHashed = /[.-][\w-]{8,}\.\w+$/.test(name) && name !== "index.html";
  return new Response(bytes, {
    headers: {
      ...{ "content-type": types[extname(name)] ?? "application/octet-stream" },
      "cache-control": isHashed ? "public, max-age=31536000, immutable" : "no-cache",
      ...{ "content-security-policy": policy, "x-content-type-options": "nosniff" },
      ...{ "referrer-policy": "no-referrer", "cross-origin-opener-policy": "same-origin" },
    },
  });
}
