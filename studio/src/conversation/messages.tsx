/** The messages in order: each call of a tool stands with its result, and with the decision about it if there was one. */
import { type ReactNode, type RefObject, useLayoutEffect, useRef } from "react";
import type { ConversationReport, Message, MessagePart } from "../data/contract.ts";
import { Failure } from "../design/failure.tsx";
import { Icon } from "../design/icon.tsx";
import { Scroll } from "../design/scroll.tsx";
import { time } from "../design/words.ts";
import { CallView } from "./call-view.tsx";
import { type Earlier, useEarlier } from "./earlier.ts";

interface MessagesProps {
  readonly report: ConversationReport;
  readonly isLive: boolean;
  readonly children: ReactNode;
}

const names: Readonly<Record<Message["role"], string>> = {
  system: "system",
  user: "person",
  assistant: "agent",
  tool: "tool",
};

/** Which stretch of the model's last window a message lies in. */
function howSeen({ window }: ConversationReport, position: number): string | undefined {
  return window?.stretches.find(({ from, to }) => position >= from && position <= to)?.how;
}

export function Messages({ report: newest, isLive, children }: MessagesProps) {
  const box = useRef<HTMLElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const earlier = useEarlier(newest);
  const { messages } = earlier;
  const report = { ...newest, thread: { ...newest.thread, messages: [...messages] } };
  usePlace(box, end, { first: messages[0]?.position ?? 0, last: messages.at(-1), isLive });
  return (
    <Scroll ref={box} className="talk-messages" label="Messages">
      {earlier.isMore ? <ReadOn earlier={earlier} /> : null}
      {messages.length === 0 ? <p className="quiet">Nothing has been said yet.</p> : null}
      {messages
        .filter(({ role }) => role !== "tool")
        .map((message) => (
          <MessageView
            key={message.position}
            message={message}
            report={report}
            seen={howSeen(report, message.position)}
          />
        ))}
      {children}
      <div ref={end} />
    </Scroll>
  );
}

interface Place {
  readonly first: number;
  readonly last: Message | undefined;
  readonly isLive: boolean;
}

/** So near the end one is taken to follow what is said. */
const nearPx = 160;

/** Keeps what is read where it is when earlier messages come above it, and follows what is said for whoever is at the end. */
function usePlace(
  box: RefObject<HTMLElement | null>,
  end: RefObject<HTMLElement | null>,
  { first, last, isLive }: Place,
): void {
  const before = useRef<{ first: number; last: string | undefined; height: number }>(undefined);
  useLayoutEffect(() => {
    const shown = box.current;
    if (shown === null) return;
    const { scrollTop, scrollHeight: height, clientHeight } = shown;
    const was = before.current;
    const follows =
      was === undefined || last?.role === "user" || scrollTop + clientHeight > was.height - nearPx;
    if (was !== undefined && first < was.first) shown.scrollTop += height - was.height;
    else if (isLive && last?.id !== was?.last && follows) end.current?.scrollIntoView({ block: "nearest" });
    before.current = { first, last: last?.id, height };
  });
}

function ReadOn({ earlier: { isReading, error, readOn } }: { readonly earlier: Earlier }) {
  return (
    <div className="talk-earlier">
      <button type="button" className="button" data-size="small" disabled={isReading} onClick={readOn}>
        {isReading ? "Reading…" : "Show earlier messages"}
      </button>
      {error === null ? null : <Failure error={error} />}
    </div>
  );
}

interface MessageViewProps {
  readonly message: Message;
  readonly report: ConversationReport;
  readonly seen: string | undefined;
}

function MessageView({ message, report, seen }: MessageViewProps) {
  return (
    <article className="message" data-role={message.role} data-seen={seen}>
      <header className="message-head">
        <b>{names[message.role]}</b>
        <time dateTime={new Date(message.at).toISOString()}>{time(message.at)}</time>
        {message.versions.length > 1 ? <span className="tag">{message.versions.length} versions</span> : null}
        {seen === undefined || seen === "shown" ? null : (
          <span className="tag">
            <Icon name="eye" size={12} />{" "}
            {seen === "summarised" ? "the model saw a summary" : "the model did not see this"}
          </span>
        )}
      </header>
      {message.parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message never change.
        <PartView key={index} part={part} report={report} />
      ))}
    </article>
  );
}

function PartView({ part, report }: { readonly part: MessagePart; readonly report: ConversationReport }) {
  switch (part.type) {
    case "text":
      return <p className="message-text">{part.text}</p>;
    case "thinking":
      return (
        <details className="message-thought">
          <summary>Thoughts</summary>
          <p>{part.text}</p>
        </details>
      );
    case "call":
      return <CallView call={part} report={report} />;
    case "file":
      return <p className="tag">{part.name ?? part.mediaType}</p>;
    default:
      return null;
  }
}
