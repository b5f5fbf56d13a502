/** One decision: what is asked, by whom, with what, and the ways to decide it. */
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Decision, Verdict } from "../data/contract.ts";
import { useDecide } from "../data/inbox.ts";
import { DataForm } from "../design/data-form.tsx";
import { Failure } from "../design/failure.tsx";
import { Icon, type IconName } from "../design/icon.tsx";
import { JsonTree } from "../design/json-tree.tsx";
import { useNow } from "../design/tick.ts";
import { ago, duration, fullTime } from "../design/words.ts";
import { Command } from "../shell/command.tsx";
import { keyName } from "../shell/key-name.ts";
import { useKeys } from "../shell/keys.ts";

export const verdicts: readonly {
  readonly verdict: Verdict;
  readonly key: string;
  readonly name: string;
  readonly icon: IconName;
  readonly look?: string;
}[] = [
  { verdict: "approve", key: "a", name: "Approve", icon: "check", look: "main" },
  { verdict: "edit", key: "e", name: "Edit and approve", icon: "edit" },
  { verdict: "reject", key: "r", name: "Reject", icon: "cross", look: "stern" },
  { verdict: "respond", key: "w", name: "Respond", icon: "chat" },
];

interface CardProps {
  readonly decision: Decision;
  readonly onDecided: () => void;
}

export function DecisionCard({ decision, onDecided }: CardProps) {
  const { run, decision: id, asked, allowed } = decision;
  const decide = useDecide(onDecided);
  const [open, setOpen] = useState<"edit" | "respond" | "reject" | undefined>(undefined);
  const send = (verdict: Verdict, rest: { readonly note?: string; readonly input?: unknown } = {}) =>
    decide.mutate({ run, decision: id, verdict, ...rest });
  const take = (verdict: Verdict) => (verdict === "approve" ? send(verdict) : setOpen(verdict));
  const ways = verdicts.filter(({ verdict }) => allowed.includes(verdict));
  useKeys(ways.map(({ verdict, key, name }) => ({ key, does: name, run: () => take(verdict) })));
  return (
    <article className="panel decision" aria-label={asked}>
      <h2 className="decision-asked">{asked}</h2>
      <About decision={decision} />
      {decision.description === undefined || decision.description === asked ? null : (
        <p>{decision.description}</p>
      )}
      <Given decision={decision} />
      <Failure error={decide.error} />
      {open === undefined ? (
        <p className="row">
          {ways.map(({ verdict, key, name, icon, look }) => (
            <button
              key={verdict}
              type="button"
              className="button"
              data-look={look}
              disabled={decide.isPending}
              onClick={() => take(verdict)}
            >
              <Icon name={icon} /> {name} <kbd>{key}</kbd>
            </button>
          ))}
        </p>
      ) : open === "edit" ? (
        <EditForm
          decision={decision}
          onSend={(input) => send("edit", { input })}
          onBack={() => setOpen(undefined)}
        />
      ) : (
        <NoteForm
          label={open === "respond" ? "What is to be done instead" : "Why not (may stay empty)"}
          isNeeded={open === "respond"}
          action={open === "respond" ? "Respond" : "Reject"}
          onSend={(note) => send(open, note === "" ? {} : { note })}
          onBack={() => setOpen(undefined)}
        />
      )}
    </article>
  );
}

function About({ decision: { run, machine, since, due, seq, state } }: { readonly decision: Decision }) {
  const now = useNow();
  return (
    <p className="decision-about">
      <Link to="/runs/$run" params={{ run }} search={{}} className="code">
        {run}
      </Link>
      <span>
        {machine}, in <code>{state}</code>
      </span>
      <Link to="/runs/$run" params={{ run }} search={{ at: seq }}>
        since step {seq}
      </Link>
      <span title={fullTime(since)}>{ago(since, now)}</span>
      {due === undefined ? null : (
        <span className="tag">decide within {duration(Math.max(0, due - now))}</span>
      )}
    </p>
  );
}

function Given({ decision }: { readonly decision: Decision }) {
  const { tool, input, context, run, decision: id } = decision;
  const path = `/v1/inbox/${encodeURIComponent(run)}/${encodeURIComponent(id)}`;
  return (
    <div className="decision-given">
      {tool === undefined ? null : (
        <p className="row">
          <Icon name="tool" /> <code>{tool}</code> would be called with
        </p>
      )}
      {input === undefined ? null : <JsonTree value={input} open={3} />}
      {context === undefined ? null : (
        <>
          <h3>What is known</h3>
          <JsonTree value={context} open={1} />
        </>
      )}
      <p className="row quiet small">
        <Command parts={["inbox", "approve", run, id]} call={{ path, body: { verdict: "approve" } }} />
      </p>
    </div>
  );
}

function EditForm({
  decision,
  onSend,
  onBack,
}: {
  readonly decision: Decision;
  readonly onSend: (input: unknown) => void;
  readonly onBack: () => void;
}) {
  const [input, setInput] = useState<unknown>(decision.input);
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        onSend(input);
      }}
    >
      <DataForm
        label="Call it with"
        value={input ?? decision.input}
        schema={decision.schema}
        onChange={setInput}
      />
      <p className="row">
        <button type="submit" className="button" data-look="main" disabled={input === undefined}>
          Approve with this
        </button>
        <button type="button" className="button" data-look="plain" onClick={onBack}>
          Back
        </button>
      </p>
    </form>
  );
}

interface NoteFormProps {
  readonly label: string;
  readonly isNeeded: boolean;
  readonly action: string;
  readonly onSend: (note: string) => void;
  readonly onBack: () => void;
}

function NoteForm({ label, isNeeded, action, onSend, onBack }: NoteFormProps) {
  const [note, setNote] = useState("");
  const isReady = !isNeeded || note.trim() !== "";
  const submit = () => isReady && onSend(note.trim());
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label className="labelled">
        {label}
        <textarea
          className="field"
          rows={3}
          value={note}
          // biome-ignore lint/a11y/noAutofocus: it was asked for by a key, and is what comes next.
          autoFocus
          onChange={({ target }) => setNote(target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit();
            if (event.key === "Escape") onBack();
          }}
        />
      </label>
      <p className="row">
        <button type="submit" className="button" data-look="main" disabled={!isReady}>
          {action} <kbd>{keyName("mod+Enter")}</kbd>
        </button>
        <button type="button" className="button" data-look="plain" onClick={onBack}>
          Back
        </button>
      </p>
    </form>
  );
}
