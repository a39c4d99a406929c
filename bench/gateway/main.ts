import { runExclusively } from './exclusive-run.ts'
import { latencyCase } from './cases/latency.ts'
import { pairCases } from './cases/pairs.ts'
import { changeCase, idleCase, memoryCase } from './cases/footprint.ts'
import { tokenCase } from './cases/token.ts'
import { readOptions } from './options.ts'
import { runHostile } from './hostile/run.ts'
import { runNeighbour } from './neighbour/run.ts'
import { emptyProfiles, profileOptions, topFunctions } from './profile.ts'
import { ensurePrograms } from './programs.ts'
import { Proxies } from './proxies.ts'
import { table, type Row } from './table.ts'

/**
 * The gateway against its peers: `npm run bench:gateway [-- --only=get,down] [--rounds=5] [--profile]`. The method is
 * in docs/explanation/performance.md. A missed goal does not fail the run, except those of `hostile` and `neighbour`; a
 * missing figure does.
 */
const cases = [...pairCases, tokenCase, latencyCase, changeCase, idleCase, memoryCase]
const [hostile, neighbour] = ['hostile', 'neighbour']
const names = new Set([...cases.map(({ name }) => name), hostile, neighbour])
const { only, shapes, rounds, isProfile } = readOptions(process.argv.slice(2), names)
const chosen = cases.filter(({ name }) => only?.includes(name) ?? true)

await runExclusively()
if (chosen.length > 0) {
  await ensurePrograms()
  await (isProfile ? profileOurs() : compareAll())
}
// Requests without an account have their own limit and no peer.
if (!isProfile && (only?.includes(hostile) ?? true) && !(await runHostile(shapes))) process.exitCode = 1
if (!isProfile && (only?.includes(neighbour) ?? true) && !(await runNeighbour(shapes))) process.exitCode = 1

async function compareAll(): Promise<void> {
  const proxies = await Proxies.start()
  const rows: Row[] = []
  try {
    for (const each of chosen) {
      const found = await each.run(proxies, rounds)
      for (const { title, ours, peer = '', ratio } of found)
        console.log(`${title}: ${ours} ${peer} ${ratio?.toFixed(2) ?? ''}`.trimEnd())
      rows.push(...found)
    }
  } finally {
    await proxies.end()
  }
  console.log(`\n${table(rows)}`)
}

async function profileOurs(): Promise<void> {
  await emptyProfiles()
  const proxies = await Proxies.start(profileOptions)
  try {
    for (const each of chosen) await each.profile?.(proxies)
  } finally {
    await proxies.end()
  }
  console.log(await topFunctions())
}
