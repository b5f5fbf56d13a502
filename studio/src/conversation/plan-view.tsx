/** The agent's plan, and how far it has come. */
import type { PlanReport } from "../data/contract.ts";
import { Icon, type IconName } from "../design/icon.tsx";

const icons: Readonly<Record<PlanReport["tasks"][number]["status"], IconName>> = {
  pending: "more",
  running: "play",
  done: "check",
  failed: "cross",
  skipped: "right",
};

export function PlanView({ plan }: { readonly plan: PlanReport }) {
  return (
    <section className="panel talk-part" aria-label="Plan">
      <h2>Plan</h2>
      <PlanProgress plan={plan} />
      <ol className="plan-tasks">
        {plan.tasks.map(({ id, title, status }) => (
          <li key={id} data-status={status}>
            <Icon name={icons[status]} size={13} />
            <span>{title}</span>
            <span className="unseen">{status}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

export function PlanProgress({ plan: { goal, progress } }: { readonly plan: PlanReport }) {
  return (
    <>
      <p className="small">{goal}</p>
      <progress
        className="plan-progress"
        max={Math.max(1, progress.total)}
        value={progress.done + progress.skipped}
        aria-label="Progress of the plan"
      />
      <p className="quiet small numbers">
        {progress.done} of {progress.total} done
      </p>
    </>
  );
}
