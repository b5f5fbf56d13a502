/** Reading a request's body: no more bytes than one may have, no deeper than one may be, and JSON. */
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import { requestError } from "./problem-answer.ts";

/** The JSON of a request; an empty object where there is no body. */
export async function readBody(request: Request): Promise<unknown> {
  const text = await readText(request);
  if (text === "") return {};
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json")
    throw new HoldfastError("MEDIA_UNSUPPORTED", "Send the body as JSON: content-type: application/json");
  checkDepth(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw requestError([{ path: "body", message: `is not JSON: ${(error as Error).message}` }]);
  }
}

async function readText(request: Request): Promise<string> {
  const length = request.headers.get("content-length");
  if (length !== null) {
    if (Number(length) > limits.requestBytesMax) throw tooLarge();
    return request.text();
  }
  if (request.body === null) return "";
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = "";
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > limits.requestBytesMax) throw tooLarge();
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

const tooLarge = (): HoldfastError =>
  new HoldfastError(
    "REQUEST_TOO_LARGE",
    `A request has at most ${limits.requestBytesMax} bytes; send less at a time`,
  );

/** Throws REQUEST_TOO_LARGE for text that is nested deeper than a request may be; what is in strings does not count. */
export function checkDepth(text: string): void {
  // As many brackets do not fit into less.
  if (text.length <= limits.requestDepthMax) return;
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isInString) {
      if (code === 92) index++;
      else if (code === 34) isInString = false;
    } else if (code === 34) isInString = true;
    else if (code === 91 || code === 123) {
      if (++depth > limits.requestDepthMax)
        throw new HoldfastError(
          "REQUEST_TOO_LARGE",
          `A request is nested ${limits.requestDepthMax} deep at most`,
        );
    } else if (code === 93 || code === 125) depth--;
  }
}
