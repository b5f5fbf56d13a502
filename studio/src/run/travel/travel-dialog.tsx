/**
 * Going back, or on from here in another run: with what would happen again, what would be cancelled and what stays done, told
 * before anything is done. A fork may begin with another context.
 */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState as useLocal } from "react";
import { client } from "../../data/client.ts";
import { asCommand } from "../../data/commands.ts";
import type { RunDetail } from "../../data/contract.ts";
import { useMachine } from "../../data/machines.ts";
import { useState } from "../../data/runs.ts";
import { CopyButton } from "../../design/copy.tsx";
import { DataForm } from "../../design/data-form.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { Failure } from "../../design/failure.tsx";
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

function usePreview(run: string, at: number, kind: Journey) {
  return useQuery({
    queryKey: ["travel", run, at, kind],
    queryFn: ({ signal }) => client.runs.travel({ run, at, kind }, { signal }),
    staleTime: 0,
  });
}

function RollbackDialog({ detail: { run }, moment, onClose }: TravelProps) {
  const { at, last, goTo } = moment;
  const preview = usePreview(run, at, "rollback");
  const rollback = useRollback(run);
  const go = () =>
    rollback.mutate(at, {
      onSuccess: () => {
        onClose();
        goTo(undefined);
      },
    });
  return (
    <Dialog
      title={`Roll back to step ${at}`}
      onClose={onClose}
      foot={
        <Foot
          action="Roll back"
          command={asCommand("runs", "rollback", run, "--to", String(at))}
          isOff={rollback.isPending || preview.data?.refused !== undefined || at >= last}
          onGo={go}
        />
      }
    >
      <p>
        A new step takes the run back to how it was. Nothing is rewritten: steps {at + 1} to {last} stay in
        the journal.
      </p>
      <Failure error={preview.error ?? rollback.error} />
      <Preview preview={preview.data} />
    </Dialog>
  );
}

interface FootProps {
  readonly action: string;
  readonly command: string;
  readonly isOff: boolean;
  readonly onGo: () => void;
}

/** The same as a command, and the button. */
const Foot = ({ action, command, isOff, onGo }: FootProps) => (
  <>
    <span className="travel-command">
      <code>{command}</code> <CopyButton text={command} what="command" />
    </span>
    <button type="button" className="button" data-look="main" disabled={isOff} onClick={onGo}>
      {action}
    </button>
  </>
);

function ForkDialog({ detail: { run, machine, version }, moment, onClose }: TravelProps) {
  const { at } = moment;
  const preview = usePreview(run, at, "fork");
  const state = useState(moment).data?.state;
  const schema = useMachine(machine, version).data?.context;
  const [name, setName] = useLocal("");
  const [edited, setEdited] = useLocal<{ readonly context: unknown } | undefined>(undefined);
  const fork = useFork(run);
  const navigate = useNavigate();
  const isWrong = edited !== undefined && (edited.context === undefined || edited.context === null);
  const go = () =>
    fork.mutate(
      {
        at,
        ...(name === "" ? {} : { fork: name }),
        ...(edited === undefined ? {} : { context: edited.context as Record<string, unknown> }),
      },
      {
        onSuccess: (forked) => {
          onClose();
          void navigate({ to: "/runs/$run", params: { run: forked.run }, search: {} });
        },
      },
    );
  return (
    <Dialog
      title={`Fork from step ${at}`}
      wide
      onClose={onClose}
      foot={
        <Foot
          action="Fork"
          command={asCommand("runs", "fork", run, "--at", String(at), ...(name === "" ? [] : ["--id", name]))}
          isOff={fork.isPending || isWrong || preview.data?.refused !== undefined}
          onGo={go}
        />
      }
    >
      <p>Another run begins as this one was. This one goes on as if nothing had happened.</p>
      <div className="travel-columns">
        <div className="stack">
          <label className="labelled">
            Name of the fork
            <input
              className="field"
              placeholder="one is made up"
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
          </label>
          {state === undefined ? (
            <p className="quiet">Reading…</p>
          ) : (
            <DataForm
              label="Context it begins with"
              value={edited === undefined || edited.context === undefined ? state.context : edited.context}
              schema={schema}
              onChange={(context) => setEdited({ context })}
              rows={14}
            />
          )}
        </div>
        <div className="stack">
          <Preview preview={preview.data} />
        </div>
      </div>
      <Failure error={preview.error ?? fork.error} />
    </Dialog>
  );
}
