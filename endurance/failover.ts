import { openPostgresStore } from '../src/store/postgres/store.ts';
import { scriptFlags } from '../test/script-flags.ts';
import { Ledger } from '../test/storage/ledger.ts';
import { bothHosts, PostgresServer } from '../test/storage/postgres-server.ts';
import { listed } from '../test/storage/todos.ts';
import { writeUntil } from '../test/storage/writers.ts';

const HELP = `Usage: node endurance/failover.ts [flags]

A primary with a synchronous standby ends as in a crash while clients write, and the standby is promoted. Says how long it
took from the promotion to the first write that was answered. A write that was answered and is lost makes the exit code 1.

  --rounds N     default 5
  --clients N    default 16
  --help
`;

const { rounds, clients } = scriptFlags(HELP, { rounds: 5, clients: 16 });

/** Milliseconds from the promotion to the next answered write, and what the ledger says is lost. */
async function round(): Promise<{
  readonly ms: number;
  readonly answered: number;
  readonly lost: readonly string[];
}> {
  await using primary = await PostgresServer.start();
  const database = await primary.makeDatabase();
  await using standby = await primary.startStandby();
  await primary.set('synchronous_standby_names', 'standby');
  await using store = await openPostgresStore(bothHosts(database, primary, standby));
  const ledger = new Ledger();
  const stop = new AbortController();
  const writing = Array.from({ length: clients }, (_, client) =>
    writeUntil(store, `client ${client}`, ledger, stop.signal),
  );
  const answers = async (count: number): Promise<void> => {
    const wanted = ledger.acknowledged + count;
    while (ledger.acknowledged < wanted) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  await answers(1_000);
  await primary.die();
  const began = performance.now();
  await standby.promote();
  await answers(1);
  const ms = Math.round(performance.now() - began);
  await answers(500);
  stop.abort();
  await Promise.all(writing);
  return { ms, answered: ledger.acknowledged, lost: ledger.compare(await listed(store)) };
}

let lost = 0;
for (let number = 1; number <= rounds; number += 1) {
  const outcome = await round();
  lost += outcome.lost.length;
  console.log(
    `round ${number}: writing again ${outcome.ms} ms after the promotion was asked for, ` +
      `${outcome.answered} writes answered, ${outcome.lost.length} of them lost`,
  );
  for (const fault of outcome.lost) console.log(`  ${fault}`);
}
process.exitCode = lost === 0 ? 0 : 1;
