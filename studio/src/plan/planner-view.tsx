/** The plan of a planner's run at the moment: its tasks in their order, what each needs, and the path that takes longest. */
import { PlanProgress } from "../conversation/plan-view.tsx";
import { client } from "../data/client.ts";
import type { PlanReport } from "../data/contract.ts";
import { duration } from "../design/words.ts";
import type { Moment } from "../run/moment.ts";
import { Report } from "../run/report.tsx";
import "../conversation/conversation.css";
import "./planner.css";

export const PlannerView = ({ moment }: { readonly moment: Moment }) => (
  <Report
    what="plan"
    label="Plan of this run"
    moment={moment}
    read={(at, signal) => client.runs.plan({ run: moment.run, at }, { signal })}
    main={({ plan }) => <Tasks plan={plan} />}
    side={({ plan }) => (
      <>
        <section className="panel talk-part" aria-label="Progress">
          <h2>Progress</h2>
          <PlanProgress plan={plan} />
        </section>
        <Path plan={plan} />
      </>
    )}
  />
);

type Task = PlanReport["tasks"][number];

/** How long it took; of one that is not over, how long it is thought to take. */
function lengthOf({ startedAt, endedAt, estimateMs }: Task): string {
  if (startedAt !== undefined && endedAt !== undefined) return duration(endedAt - startedAt);
  return estimateMs === undefined ? "" : `about ${duration(estimateMs)}`;
}

function Tasks({ plan: { tasks, criticalPath, bottlenecks } }: { readonly plan: PlanReport }) {
  return (
    <section className="panel table-box planner-tasks" aria-label="Tasks">
      <h2>Tasks</h2>
      {tasks.length === 0 ? (
        <p className="quiet">The goal has not been decomposed yet.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th>Task</th>
              <th>State</th>
              <th>Needs</th>
              <th className="table-number">Attempts</th>
              <th className="table-number">Time</th>
            </tr>
          </thead>
          <tbody>
            {tasks.map((task) => (
              <tr key={task.id} data-critical={criticalPath.tasks.includes(task.id)}>
                <td className="table-message">
                  {task.title}{" "}
                  {task.title === task.id ? null : <code className="quiet small">{task.id}</code>}
                  {task.error === undefined ? null : <p className="quiet small">{task.error.message}</p>}
                </td>
                <td>
                  <span className="planner-status" data-status={task.status}>
                    {task.status}
                  </span>{" "}
                  {bottlenecks[0] === task.id ? <span className="tag">holds up most</span> : null}
                </td>
                <td>{task.needs.join(", ")}</td>
                <td className="table-number numbers">{task.attempts}</td>
                <td className="table-number numbers">{lengthOf(task)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Path({ plan: { criticalPath, tasks } }: { readonly plan: PlanReport }) {
  const titles = new Map(tasks.map(({ id, title }) => [id, title]));
  return (
    <section className="panel talk-part" aria-label="Critical path">
      <h2>Critical path</h2>
      <p className="quiet small">What takes longest, one after the other: {duration(criticalPath.ms)}.</p>
      <ol className="planner-path">
        {criticalPath.tasks.map((id) => (
          <li key={id}>{titles.get(id) ?? id}</li>
        ))}
      </ol>
    </section>
  );
}
