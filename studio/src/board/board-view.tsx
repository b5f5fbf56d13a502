/** A board at the moment: what stands under each key and since which change, what waits for review, leases, and votes. */
import { client } from "../data/client.ts";
import type { BoardReport } from "../data/contract.ts";
import { JsonTree } from "../design/json-tree.tsx";
import { duration, plural, time } from "../design/words.ts";
import type { Moment } from "../run/moment.ts";
import { Report } from "../run/report.tsx";
import { Proposals } from "./proposals.tsx";
import "./board.css";

export const BoardView = ({ moment }: { readonly moment: Moment }) => (
  <Report
    what="board"
    label="Board"
    moment={moment}
    read={(at, signal) => client.runs.board({ run: moment.run, at }, { signal })}
    main={(board) => <Entries board={board} />}
    side={(board) => (
      <>
        {board.reviews.length === 0 ? null : <Reviews reviews={board.reviews} />}
        <Leases board={board} />
        <Proposals proposals={board.proposals} />
      </>
    )}
  />
);

function Entries({ board: { entries, version } }: { readonly board: BoardReport }) {
  return (
    <section className="panel table-box" aria-label="Entries">
      <h2>
        What stands on it <span className="quiet small numbers">after {plural(version, "change")}</span>
      </h2>
      {entries.length === 0 ? (
        <p className="quiet">Nothing yet.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th>Key</th>
              <th>Value</th>
              <th className="table-number">Version</th>
              <th>By</th>
              <th>At</th>
            </tr>
          </thead>
          <tbody>
            {entries.map(({ key, value, version: since, by, at }) => (
              <tr key={key}>
                <td>
                  <code>{key}</code>
                </td>
                <td className="table-message">
                  <JsonTree value={value} open={1} />
                </td>
                <td className="table-number numbers">{since}</td>
                <td>{by}</td>
                <td className="numbers">{time(at)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Reviews({ reviews }: { readonly reviews: BoardReport["reviews"] }) {
  return (
    <section className="panel table-box" aria-label="Reviews">
      <h2>Waits for review</h2>
      <ul className="board-list">
        {reviews.map(({ id, key, value, by, ifVersion }) => (
          <li key={id}>
            <code>{key}</code> by {by} <span className="quiet small">for version {ifVersion}</span>
            <JsonTree value={value} open={1} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Leases({ board: { leases, queue } }: { readonly board: BoardReport }) {
  return (
    <section className="panel table-box" aria-label="Leases">
      <h2>Leases</h2>
      {leases.length + queue.length === 0 ? <p className="quiet">Nobody holds any.</p> : null}
      <ul className="board-list">
        {leases.map(({ token, names, by, until }) => (
          <li key={token}>
            <code>{names.join(", ")}</code> held by {by}{" "}
            <span className="quiet small numbers">
              until {time(until)}, token {token}
            </span>
          </li>
        ))}
        {queue.map(({ names, by, ms }) => (
          <li key={`${by} ${names.join()}`}>
            <code>{names.join(", ")}</code> <span className="tag">waited for</span> by {by}{" "}
            <span className="quiet small">for {duration(ms)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
