/** A process that steps one run on PostgreSQL with a warm tier, until it is killed, and says of every step when it is durable. */
import { commitOn, firstCommit, sample, worker } from "../../src/store/conformance/sample.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { withRedis } from "../../src/store/redis/index.ts";

const [database, redis] = process.argv.slice(2) as [string, string];
const store = withRedis(postgres(database), { url: redis, bytesMin: 0 });
await store.open();
const lease = await store.own(worker, 60_000, Date.now());
const { epoch } = lease;
let head = await store.readHead(sample);
for (;;) {
  const withSnapshot = (head?.seq ?? 0) % 5 === 4;
  const commit =
    head === undefined ? firstCommit(sample.run, epoch) : commitOn(head, epoch, { withSnapshot });
  const [outcome] = await store.commit([commit]);
  if (outcome?.outcome !== "committed") throw new Error(JSON.stringify(outcome));
  head = commit.head;
  process.stdout.write(`${head.seq}\n`);
  // Read in between, so that copies are made of more than snapshots.
  if (head.seq % 7 === 0) await store.load(sample);
}
