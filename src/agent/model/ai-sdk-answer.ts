/**
 * What a model of the AI SDK says, put together from its stream as the content of one message: every block on its own, with
 * what its provider says of it. Signatures are of one block and no other, and are taken back only with that.
 */
import type { TextStreamPart, ToolSet } from "ai";

interface Block {
  readonly type: "text" | "reasoning";
  text: string;
  providerOptions?: unknown;
}

type Streamed = TextStreamPart<ToolSet>;

export class AnswerContent {
  readonly #content: object[] = [];
  /** Blocks that are not over, by their kind and id. */
  readonly #open = new Map<string, Block>();

  take(part: Streamed): void {
    switch (part.type) {
      case "text-start":
      case "text-delta":
      case "text-end":
        this.#lengthen("text", part);
        break;
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        this.#lengthen("reasoning", part);
        break;
      case "tool-call": {
        const { toolCallId, toolName, input, providerExecuted, providerMetadata } = part;
        const by = providerExecuted ? { providerExecuted } : {};
        this.#content.push({
          ...{ type: "tool-call", toolCallId, toolName, input: input ?? null, ...by },
          ...optionsOf(providerMetadata),
        });
        break;
      }
      case "tool-result": {
        // Those of the agent's own tools come later, and not from here.
        const { toolCallId, toolName, output, providerExecuted, providerMetadata } = part;
        if (!providerExecuted) break;
        const value =
          typeof output === "string"
            ? { type: "text", value: output }
            : { type: "json", value: plain(output) };
        this.#content.push({
          ...{ type: "tool-result", toolCallId, toolName, output: value },
          ...optionsOf(providerMetadata),
        });
      }
    }
  }

  /** All that was said, without blocks that are empty and of which nothing is said. */
  parts(): readonly object[] {
    return this.#content.filter((part) => {
      const { text, providerOptions } = part as Partial<Block>;
      return text !== "" || providerOptions !== undefined;
    });
  }

  #lengthen(type: Block["type"], { id, text, providerMetadata, ...part }: BlockPart): void {
    const key = `${type} ${id}`;
    let block = this.#open.get(key);
    if (block === undefined) {
      block = { type, text: "" };
      this.#open.set(key, block);
      this.#content.push(block);
    }
    block.text += text ?? "";
    // What is said of a block last is what holds.
    Object.assign(block, optionsOf(providerMetadata));
    if (part.type.endsWith("-end")) this.#open.delete(key);
  }
}

interface BlockPart {
  readonly type: string;
  readonly id: string;
  readonly text?: string;
  readonly providerMetadata?: unknown;
}

const optionsOf = (metadata: unknown): { providerOptions?: unknown } =>
  metadata === undefined ? {} : { providerOptions: plain(metadata) };

/** As JSON says it: what cannot be said in it no provider could take back. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));
