/** What fails, by fingerprint: alike failures are one row, with a link to the newest. */
import { Link } from "@tanstack/react-router";
import type { FailureGroup } from "../data/contract.ts";
import { useNow } from "../design/tick.ts";
import { ago, count } from "../design/words.ts";

export function Failures({ failures }: { readonly failures: readonly FailureGroup[] }) {
  const now = useNow();
  return (
    <section className="panel table-box" aria-label="Failures">
      <h2>Failures</h2>
      {failures.length === 0 ? (
        <p className="quiet">None since this process began.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th>Kind</th>
              <th>Machine</th>
              <th>Error</th>
              <th className="table-number">Count</th>
              <th>Last</th>
            </tr>
          </thead>
          <tbody>
            {failures.map(
              ({ fingerprint, kind, machine, name, message, count: times, lastAt, lastRun, lastSeq }) => (
                <tr key={fingerprint}>
                  <td>
                    <span className="tag">{kind}</span>
                  </td>
                  <td>{machine}</td>
                  <td className="table-message">
                    <code>{name}</code> {message}
                  </td>
                  <td className="table-number numbers">{count(times)}</td>
                  <td>
                    <Link
                      to="/runs/$run"
                      params={{ run: lastRun }}
                      search={lastSeq > 0 ? { at: lastSeq } : {}}
                    >
                      {ago(lastAt, now)}
                    </Link>
                  </td>
                </tr>
              ),
            )}
          </tbody>
        </table>
      )}
    </section>
  );
}
