/** What a thread consists of, as it stands in a context. */
import type { Pages } from "../pages.ts";
import type { Message } from "./message.ts";

/** A message in its thread. Its position is its place in the list, and never changes. */
export type Entry = Message & {
  /** The position of the message it comes after; null for one that begins the conversation. */
  readonly after: number | null;
};

/** A text that stands for messages of a branch when a model looks at it. The messages stay where they are. */
export interface Overlay {
  readonly id: string;
  /** The positions of the first and the last message it stands for, on the branch of the last. */
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly at: number;
  /** Who wrote it: a model's name, or how it was made. */
  readonly by?: string;
}

export interface Thread {
  /** The messages by their positions, in pages, so that a step costs the same however many there are. */
  pages: Pages<Entry>;
  /** The position of the newest message of the branch that is going on; null before the first. */
  head: number | null;
  overlays: Overlay[];
}
