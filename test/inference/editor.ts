/**
 * An editor, as far as completion goes: the compiler's own language server, asked over its protocol what could stand at
 * the marks (`‸`) of a module. So what is promised of editors is what editors show.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../project.ts";

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly items?: readonly unknown[] };
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** A language server and what it was asked. It answers in JSON behind a header that tells its length. */
class Server {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (answer: Message) => void>();
  #heard: Buffer = Buffer.alloc(0);
  #asked = 0;

  constructor() {
    this.#process = spawn(join(root, "node_modules/.bin/tsc"), ["--lsp", "--stdio"], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#process.stdout?.on("data", (bytes: Buffer) => {
      this.#heard = Buffer.concat([this.#heard, bytes]);
      for (let message = this.#next(); message !== undefined; message = this.#next()) this.#take(message);
    });
  }

  async ask(method: string, params: object): Promise<unknown> {
    const id = ++this.#asked;
    const answered = new Promise<Message>((resolve) => this.#waiting.set(id, resolve));
    this.#write({ id, method, params });
    const { result, error } = await answered;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  tell(method: string, params: object): void {
    this.#write({ method, params });
  }

  close(): void {
    this.#process.kill();
  }

  #write(message: object): void {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.#process.stdin?.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  #next(): Message | undefined {
    const end = this.#heard.indexOf("\r\n\r\n");
    if (end < 0) return undefined;
    const length = Number(/Content-Length: (\d+)/i.exec(this.#heard.toString("utf8", 0, end))?.[1]);
    const from = end + 4;
    if (this.#heard.length < from + length) return undefined;
    const text = this.#heard.toString("utf8", from, from + length);
    this.#heard = this.#heard.subarray(from + length);
    return JSON.parse(text) as Message;
  }

  #take({ id, method, ...message }: Message): void {
    if (id === undefined) return;
    if (method === undefined) {
      this.#waiting.get(id)?.(message);
      this.#waiting.delete(id);
      return;
    }
    // What it asks its editor for, settings mostly, this one has nothing to say about.
    const { items } = message.params ?? {};
    this.#write({ id, result: items === undefined ? null : items.map(() => null) });
  }
}

/** The text without its marks, and where they were, as lines and columns. */
function unmarked(text: string): { readonly text: string; readonly marks: readonly object[] } {
  const parts = text.split("‸");
  const marks = parts.slice(0, -1).map((_, index) => {
    const lines = parts
      .slice(0, index + 1)
      .join("")
      .split("\n");
    return { line: lines.length - 1, character: lines.at(-1)?.length };
  });
  return { text: parts.join(""), marks };
}

/** What an editor offers at each mark of a module, sorted; nothing where it offers nothing. */
export async function completionsIn(module: string): Promise<readonly (readonly string[])[]> {
  mkdirSync(join(root, "coverage"), { recursive: true });
  const folder = mkdtempSync(join(root, "coverage", "editor-"));
  const server = new Server();
  try {
    const { text, marks } = unmarked(module);
    const config = { extends: join(root, "tsconfig.json"), include: ["*.ts"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    writeFileSync(join(folder, "machine.ts"), text);
    const rootUri = pathToFileURL(folder).href;
    const uri = `${rootUri}/machine.ts`;
    await server.ask("initialize", { processId: null, rootUri, capabilities: {} });
    server.tell("initialized", {});
    server.tell("textDocument/didOpen", {
      textDocument: { uri, languageId: "typescript", version: 1, text },
    });
    const offered: string[][] = [];
    for (const position of marks) {
      const found = (await server.ask("textDocument/completion", { textDocument: { uri }, position })) as {
        readonly items: readonly { readonly label: string }[];
      } | null;
      offered.push((found?.items ?? []).map(({ label }) => label.replace(/\?$/, "")).sort());
    }
    return offered;
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
}
