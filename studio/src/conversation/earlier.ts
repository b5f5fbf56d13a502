/**
 * The messages of a conversation as far back as somebody has read: the newest page, and before it what was asked for, a page
 * at a time. A message's past never changes, so what was read stays while the conversation goes on.
 */
import { useMutation } from "@tanstack/react-query";
import { useRef } from "react";
import { client } from "../data/client.ts";
import type { ConversationReport, Message } from "../data/contract.ts";

export const messagesPerPage = 100;

/** A newer page after what was read: what comes before its first message, if that was read. */
function joined(read: readonly Message[], page: readonly Message[]): readonly Message[] {
  const [first] = page;
  const at = read.findIndex(({ id, position }) => id === first?.id && position === first.position);
  return at < 0 ? page : [...read.slice(0, at), ...page];
}

export interface Earlier {
  /** Oldest first. */
  readonly messages: readonly Message[];
  readonly isMore: boolean;
  readonly isReading: boolean;
  readonly error: Error | null;
  readonly readOn: () => void;
}

export function useEarlier({ run, seq, thread }: ConversationReport): Earlier {
  const read = useRef<readonly Message[]>([]);
  read.current = joined(read.current, thread.messages);
  const before = read.current[0]?.after ?? null;
  const { mutate, isPending, error } = useMutation({
    mutationFn: (head: number) => client.runs.conversation({ run, at: seq, head, limit: messagesPerPage }),
    onSuccess: ({ thread: { messages } }, head) => {
      // Another moment may be shown by now.
      if (read.current[0]?.after === head) read.current = [...messages, ...read.current];
    },
  });
  return {
    messages: read.current,
    isMore: before !== null,
    isReading: isPending,
    error,
    readOn: () => {
      if (before !== null) mutate(before);
    },
  };
}
