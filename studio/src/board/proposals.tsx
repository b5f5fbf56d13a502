/** Votes on a board: what is asked, who is for what, and whether it is over. Open ones come first. */
import type { BoardReport } from "../data/contract.ts";
import { time } from "../design/words.ts";

type Proposal = BoardReport["proposals"][number];

export function Proposals({ proposals }: { readonly proposals: readonly Proposal[] }) {
  const sorted = [...proposals].sort(
    (one, other) => Number(one.closedAt !== null) - Number(other.closedAt !== null),
  );
  return (
    <section className="panel table-box" aria-label="Votes">
      <h2>Votes</h2>
      {sorted.length === 0 ? <p className="quiet">None.</p> : null}
      {sorted.map((proposal) => (
        <Vote key={proposal.id} proposal={proposal} />
      ))}
    </section>
  );
}

function Vote({ proposal }: { readonly proposal: Proposal }) {
  const { question, options, voters, rule, ballots, by, closesAt, closedAt } = proposal;
  /** Who has it as the first choice. */
  const votersOf = (option: string) =>
    ballots.filter(({ choice }) => choice[0] === option).map((one) => one.by);
  return (
    <article className="part" aria-label={question}>
      <h3>
        {question} <span className="tag">{closedAt === null ? "open" : "closed"}</span>
      </h3>
      <p className="quiet small numbers">
        {ballots.length} of {voters.length} voted, {rule}, asked by {by}
        {closedAt === null && closesAt !== null ? `, until ${time(closesAt)}` : ""}
      </p>
      <dl className="facts">
        {options.map((option) => (
          <div className="board-option" key={option}>
            <dt>{option}</dt>
            <dd>{votersOf(option).join(", ") || "–"}</dd>
          </div>
        ))}
      </dl>
    </article>
  );
}
