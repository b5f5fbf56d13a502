/** A call of a tool: what it was called with, who allowed it, and what came of it. */
import { Link } from "@tanstack/react-router";
import type { ConversationReport, MessagePart } from "../data/contract.ts";
import { Icon } from "../design/icon.tsx";
import { JsonTree } from "../design/json-tree.tsx";
import { duration } from "../design/words.ts";

type CallPart = Extract<MessagePart, { readonly type: "call" }>;
type ResultPart = Extract<MessagePart, { readonly type: "result" }>;

function resultOf(report: ConversationReport, id: string): ResultPart | undefined {
  for (const { parts } of report.thread.messages)
    for (const part of parts) if (part.type === "result" && part.call === id) return part;
  return undefined;
}

export function CallView({ call, report }: { readonly call: CallPart; readonly report: ConversationReport }) {
  const record = report.calls.find(({ id }) => id === call.id);
  const result = resultOf(report, call.id);
  const open = report.approvals.open.find((one) => one.call === call.id);
  const decided = report.approvals.decided.find((one) => one.call === call.id);
  const status =
    open === undefined
      ? (record?.status ?? (result === undefined ? "asked for" : "done"))
      : "waits for a person";
  return (
    <section
      className="call"
      data-status={open === undefined ? status : "open"}
      aria-label={`Call of ${call.tool}`}
    >
      <p className="call-head">
        <Icon name="tool" size={14} />
        <code>{call.tool}</code>
        <span className="tag">{status}</span>
        {record?.ms === undefined ? null : <span className="quiet small numbers">{duration(record.ms)}</span>}
        {record !== undefined && record.attempt > 1 ? (
          <span className="tag">{record.attempt} attempts</span>
        ) : null}
        {open === undefined ? null : (
          <Link
            className="button push"
            data-look="main"
            data-size="small"
            to="/inbox"
            search={{ run: report.run, decision: open.call }}
          >
            Decide
          </Link>
        )}
      </p>
      <JsonTree value={call.input} open={2} />
      {decided === undefined ? null : (
        <p className="small">
          <Icon name={decided.isApproved ? "check" : "cross"} size={12} />{" "}
          {decided.isApproved ? "approved" : "rejected"}
          {decided.by === undefined ? "" : ` by ${decided.by}`}
          {decided.note === undefined ? "" : `: ${decided.note}`}
        </p>
      )}
      {result === undefined ? null : (
        <div className="call-result" data-bad={result.isError === true}>
          <span className="unseen">Result: </span>
          <JsonTree value={result.output} open={2} />
        </div>
      )}
    </section>
  );
}
