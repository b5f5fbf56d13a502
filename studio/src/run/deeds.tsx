/** What can be done with a run: by buttons, by the palette, and by other means that can be copied. */
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { asCurl, runPath, useAccess } from "../data/commands.ts";
import type { RunDetail, RunStatus } from "../data/contract.ts";
import { copyText } from "../design/copy.tsx";
import { Dialog } from "../design/dialog.tsx";
import { Failure } from "../design/failure.tsx";
import { Icon } from "../design/icon.tsx";
import { CopyMenu } from "../shell/copy-menu.tsx";
import { type Offer, useOffer } from "../shell/offers.ts";
import { type Deed, useDeed } from "./actions.ts";
import type { Moment } from "./moment.ts";
import type { Journey } from "./travel/travel-dialog.tsx";

interface DeedsProps {
  readonly detail: RunDetail;
  readonly moment: Moment;
  readonly onTravel: (journey: Journey) => void;
}

export function Deeds({ detail, moment, onTravel }: DeedsProps) {
  const { run, status } = detail;
  const deed = useDeed(run);
  const [isCancelling, setCancelling] = useState(false);
  const isOver = status !== "active" && status !== "parked";
  useOffer(useOffered(detail, onTravel));
  return (
    <span className="row">
      <Going status={status} onDo={deed.mutate} />
      <button type="button" className="button" onClick={() => onTravel("fork")}>
        <Icon name="fork" /> Fork
      </button>
      {isOver ? null : (
        <>
          <button
            type="button"
            className="button"
            disabled={moment.isLive}
            onClick={() => onTravel("rollback")}
          >
            <Icon name="back" /> Roll back
          </button>
          <button type="button" className="button" data-look="stern" onClick={() => setCancelling(true)}>
            <Icon name="cancel" /> Cancel
          </button>
        </>
      )}
      <CopyMenu
        id={run}
        call={{ path: runPath(run) }}
        commands={[
          { word: "show", parts: ["runs", "show", run] },
          { word: "tail", parts: ["runs", "tail", run] },
        ]}
      />
      <Failure error={deed.error} />
      {isCancelling ? (
        <CancelDialog
          run={run}
          onClose={() => setCancelling(false)}
          onCancel={() => {
            setCancelling(false);
            deed.mutate("cancel");
          }}
        />
      ) : null}
    </span>
  );
}

/** What the palette is offered of a run. */
function useOffered({ run, kind }: RunDetail, onTravel: (journey: Journey) => void): readonly Offer[] {
  const navigate = useNavigate({ from: "/runs/$run" });
  const { url, token } = useAccess();
  return useMemo(
    (): Offer[] => [
      { name: `Fork ${run} from this step`, icon: "fork", run: () => onTravel("fork") },
      { name: `Roll ${run} back to this step`, icon: "back", run: () => onTravel("rollback") },
      {
        name: `Copy ${run} as curl`,
        icon: "copy",
        run: () => void copyText(asCurl({ url, token }, { path: runPath(run) })),
      },
      ...(kind === "agent"
        ? [
            {
              name: "Conversation",
              icon: "chat" as const,
              run: () => void navigate({ search: (now) => ({ ...now, view: "conversation" as const }) }),
            },
          ]
        : []),
    ],
    [run, kind, onTravel, navigate, url, token],
  );
}

/** Standing still and going on. */
function Going({ status, onDo }: { readonly status: RunStatus; readonly onDo: (deed: Deed) => void }) {
  if (status === "active")
    return (
      <button type="button" className="button" onClick={() => onDo("pause")}>
        <Icon name="pause" /> Pause
      </button>
    );
  if (status !== "parked") return null;
  return (
    <>
      <button type="button" className="button" data-look="main" onClick={() => onDo("retry")}>
        <Icon name="play" /> Go on
      </button>
      <button type="button" className="button" onClick={() => onDo("advance")}>
        <Icon name="step" /> One event
      </button>
    </>
  );
}

interface CancelDialogProps {
  readonly run: string;
  readonly onClose: () => void;
  readonly onCancel: () => void;
}

const CancelDialog = ({ run, onClose, onCancel }: CancelDialogProps) => (
  <Dialog
    title={`Cancel ${run}?`}
    onClose={onClose}
    foot={
      <>
        <button type="button" className="button" onClick={onClose}>
          Let it go on
        </button>
        <button type="button" className="button" data-look="stern" onClick={onCancel}>
          Cancel the run
        </button>
      </>
    }
  >
    Its exit actions run, what it waits for is cancelled, and what it did is compensated where its machine
    says how.
  </Dialog>
);
