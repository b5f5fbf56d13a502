/**
 * Going back, or on from here in another run: with what would happen again, what would be cancelled and what stays done, told
 * before anything is done. Either may go on with another context.
 */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState as useLocal } from "react";
import { client } from "../../data/client.ts";
import { type Call, runPath } from "../../data/commands.ts";
import type { RunDetail } from "../../data/contract.ts";
import { useMachine } from "../../data/machines.ts";
import { useState } from "../../data/runs.ts";
import { DataForm } from "../../design/data-form.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { Failure } from "../../design/failure.tsx";
import { Command } from "../../shell/command.tsx";
import { useFork, useRollback } from "../actions.ts";
import type { Moment } from "../moment.ts";
import { Preview } from "./preview.tsx";
import "./travel.css";

export type Journey = "fork" | "rollback";

interface TravelProps {
  readonly journey: Journey;
  readonly detail: RunDetail;
  readonly moment: Moment;
  readonly onClose: () => void;
}

export function TravelDialog(props: TravelProps) {
  return props.journey === "fork" ? <ForkDialog {...props} /> : <RollbackDialog {...props} />;
}

type Context = Record<string, unknown>;

/** What the journey would do; with an edited context, what it would do with that. */
function usePreview(run: string, at: number, kind: Journey, context?: Context) {
  return useQuery({
    queryKey: ["travel", run, at, kind, context],
    queryFn: ({ signal }) =>
      context === undefined
        ? client.runs.travel({ run, at, kind }, { signal })
        : client.runs.preview({ run, at, kind, context: context as never }, { signal }),
    staleTime: 0,
    // While somebody writes, what was said before stands until the new is known.
    placeholderData: keepPreviousData,
  });
}

/** The fields of a context that are not as they were, as options; undefined where some are gone, which no option says. */
function setOptions(before: Context, edited: Context | undefined): readonly string[] | undefined {
  if (edited === undefined) return [];
  if (Object.keys(before).some((name) => !Object.hasOwn(edited, name))) return undefined;
  return Object.entries(edited).flatMap(([name, value]) =>
    JSON.stringify(value) === JSON.stringify(before[name])
      ? []
      : ["--set", `${name}=${JSON.stringify(value)}`],
  );
}

/** The context to go on with: as it was, or as somebody has edited it. */
function useContextField({ machine, version }: RunDetail, moment: Moment, label: string) {
  const state = useState(moment).data?.state;
  const schema = useMachine(machine, version).data?.context;
  const [edited, setEdited] = useLocal<{ readonly context: unknown } | undefined>(undefined);
  const context = isContext(edited?.context) ? edited.context : undefined;
  const field =
    state === undefined ? (
      <p className="quiet">Reading…</p>
    ) : (
      <DataForm
        label={label}
        value={edited === undefined || edited.context === undefined ? state.context : edited.context}
        schema={schema}
        onChange={(context) => setEdited({ context })}
        rows={14}
      />
    );
  return {
    /** Undefined while it is as it was. */
    context,
    isWrong: edited !== undefined && context === undefined,
    sets: setOptions((state?.context ?? {}) as Context, context),
    field,
  };
}

function RollbackDialog({ detail, moment, onClose }: TravelProps) {
  const { run } = detail;
  const { at, last, goTo } = moment;
  const { context, isWrong, sets, field } = useContextField(detail, moment, "Context it goes on with");
  const preview = usePreview(run, at, "rollback", context);
  const rollback = useRollback(run);
  const body = { to: at, ...(context === undefined ? {} : { context }) };
  const go = () =>
    rollback.mutate(body, {
      onSuccess: () => {
        onClose();
        goTo(undefined);
      },
    });
  return (
    <Dialog
      title={`Roll back to step ${at}`}
      wide
      onClose={onClose}
      foot={
        <Foot
          action="Roll back"
          parts={sets && ["runs", "rollback", run, "--to", String(at), ...sets]}
          call={{ path: runPath(run, "/rollback"), body }}
          isOff={rollback.isPending || isWrong || !isFree(preview) || at >= last}
          onGo={go}
        />
      }
    >
      <p>
        A new step takes the run back to how it was. Nothing is rewritten: steps {at + 1} to {last} stay in
        the journal.
      </p>
      <Failure error={preview.error ?? rollback.error} />
      <div className="travel-columns">
        <div className="stack">{field}</div>
        <div className="stack">
          <Preview preview={preview.data} />
        </div>
      </div>
    </Dialog>
  );
}

/** Whether what is shown is of what is written now, and would not be refused. */
const isFree = ({ data, isPlaceholderData }: ReturnType<typeof usePreview>): boolean =>
  !isPlaceholderData && data?.refused === undefined;

interface FootProps {
  readonly action: string;
  readonly parts: readonly string[] | undefined;
  readonly call: Call;
  readonly isOff: boolean;
  readonly onGo: () => void;
}

/** The same by other means, and the button. */
const Foot = ({ action, parts, call, isOff, onGo }: FootProps) => (
  <>
    <span className="travel-command">
      <Command parts={parts} call={call} />
    </span>
    <button type="button" className="button" data-look="main" disabled={isOff} onClick={onGo}>
      {action}
    </button>
  </>
);

const NameField = ({ name, onName }: { readonly name: string; readonly onName: (name: string) => void }) => (
  <label className="labelled">
    Name of the fork
    <input
      className="field"
      placeholder="one is made up"
      value={name}
      onChange={({ target }) => onName(target.value)}
    />
  </label>
);

const isContext = (value: unknown): value is Context =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function ForkDialog({ detail, moment, onClose }: TravelProps) {
  const { run } = detail;
  const { at } = moment;
  const [name, setName] = useLocal("");
  const { context, isWrong, sets, field } = useContextField(detail, moment, "Context it begins with");
  const preview = usePreview(run, at, "fork", context);
  const fork = useFork(run);
  const navigate = useNavigate();
  const body = {
    ...{ at, ...(name === "" ? {} : { fork: name }) },
    ...(context === undefined ? {} : { context }),
  };
  const go = () =>
    fork.mutate(body, {
      onSuccess: (forked) => {
        onClose();
        void navigate({ to: "/runs/$run", params: { run: forked.run }, search: {} });
      },
    });
  const parts = ["runs", "fork", run, "--at", String(at), ...(name === "" ? [] : ["--id", name])];
  return (
    <Dialog
      title={`Fork from step ${at}`}
      wide
      onClose={onClose}
      foot={
        <Foot
          action="Fork"
          parts={sets && [...parts, ...sets]}
          call={{ path: runPath(run, "/fork"), body }}
          isOff={fork.isPending || isWrong || !isFree(preview)}
          onGo={go}
        />
      }
    >
      <p>Another run begins as this one was. This one goes on as if nothing had happened.</p>
      <div className="travel-columns">
        <div className="stack">
          <NameField name={name} onName={setName} />
          {field}
        </div>
        <div className="stack">
          <Preview preview={preview.data} />
        </div>
      </div>
      <Failure error={preview.error ?? fork.error} />
    </Dialog>
  );
}
