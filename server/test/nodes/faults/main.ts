import { randomInt } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import type { Lifetime } from '../../support/berth.ts'
import { planFaults } from './plan.ts'
import { runFaults, seconds, type FaultReport } from './run-faults.ts'

/**
 * `npm run test:nodes`: two nodes, PostgreSQL with a standby and an engine, in network namespaces of their own, while cables are cut,
 * machines freeze and end, and the database fails over. `--seed 7` does again what a run with that seed did; `--rounds`, `--only
 * 'frozen|fails over'`; `--write` puts the result into docs/explanation/reliability.md. Needs root.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    rounds: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
})
const document = path.resolve(import.meta.dirname, '../../../../docs/explanation/reliability.md')
const [begin, end] = ['<!-- nodes: begin -->', '<!-- nodes: end -->']
const say = (words: string) => process.stdout.write(`${words}\n`)
const cleanUps: (() => Promise<void>)[] = []
let cleaning: Promise<void> | undefined
const lifetime: Lifetime = { after: (work) => void cleanUps.unshift(work) }

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void cleanUp().then(() => process.exit(1)))
process.exit(await main(Number(values.seed)))

/** @returns the exit code */
async function main(seed: number): Promise<number> {
  say(`seed ${seed}`)
  try {
    const report = await runFaults(lifetime, seed, planFaults(seed, Number(values.rounds), values.only), say)
    const text = shown(report, seed)
    say(text)
    if (values.write) write(text)
    return report.violations.length === 0 ? 0 : 1
  } finally {
    await cleanUp()
    say(`seed ${seed}`)
  }
}

async function cleanUp(): Promise<void> {
  cleaning ??= (async () => {
    for (const work of cleanUps) await work().catch((error: unknown) => say(String(error)))
  })()
  return cleaning
}

function shown({ outcomes, violations, counts }: FaultReport, seed: number): string {
  const rows = outcomes.map(({ kind, duration, apiGap, leaderGap, containerGap, recovery }) =>
    [kind, ...[duration, apiGap, leaderGap, containerGap, recovery].map(seconds)].join(' | '),
  )
  const day = new Date().toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' })
  return [
    `Seed ${seed}, ${day}, ${cpus().length} cores.`,
    '',
    '| fault | lasts | longest without the API at any node | without what the leader alone answers | without a container | all well after its end |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows.map((row) => `| ${row} |`),
    '',
    '| checked | times |',
    '| --- | --- |',
    ...Object.entries(counts).map((row) => `| ${row.join(' | ')} |`),
    '',
    `Violations: ${violations.length}`,
    ...violations.map((words) => `- ${words}`),
  ].join('\n')
}

/** @throws when the marks are not there */
function write(text: string): void {
  const page = readFileSync(document, 'utf8')
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the marks are missing in ${document}`)
  writeFileSync(document, `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`)
}
