/** Who shares the store, and how much each has to do. */
import type { ServerOverview } from "../data/contract.ts";
import { count } from "../design/words.ts";

export function Workers({ workers }: { readonly workers: ServerOverview["workers"] }) {
  return (
    <section className="panel table-box" aria-label="Workers">
      <h2>Workers</h2>
      {workers.length === 0 ? (
        <p className="quiet">This process owns its store alone.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th>Worker</th>
              <th className="table-number">Running</th>
              <th className="table-number">Waiting</th>
              <th className="table-number">Slots</th>
              <th>Standing</th>
            </tr>
          </thead>
          <tbody>
            {workers.map(({ worker, running, waiting, slots, isThis, isLeaving }) => (
              <tr key={worker}>
                <td>
                  <code>{worker}</code> {isThis ? <span className="tag">this one</span> : null}
                </td>
                <td className="table-number numbers">{count(running)}</td>
                <td className="table-number numbers">{count(waiting)}</td>
                <td className="table-number numbers">{count(slots)}</td>
                <td>{isLeaving ? "leaving" : "at work"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
