import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { checkCase, type Side } from './check-case.ts'
import { differenceOf, runFuzz, shown } from './run.ts'

/**
 * `npm run fuzz:gateway`: the gateway's parsers against Node's own, on generated messages.
 * `--seed 7` repeats a run, `--count 5000` makes it shorter, `--case 123 --side requests` repeats one case.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    count: { type: 'string', default: '1000000' },
    case: { type: 'string' },
    side: { type: 'string', default: 'requests' },
  },
})
if (values.case === undefined) await run(Number(values.seed), Number(values.count))
else await again(values.side === 'answers' ? 'answers' : 'requests', Number(values.case))

async function run(seed: number, count: number): Promise<void> {
  say(`seed ${seed}, ${count} cases`)
  const begun = Date.now()
  const found = await runFuzz(seed, count, (done) => say(`${done}`))
  const seconds = (Date.now() - begun) / 1000
  for (const difference of found.differences) say(shown(difference))
  say(
    `${found.cases} cases in ${seconds.toFixed(0)} s: ${found.accepted} with an accepted message, ` +
      `${found.refused} refused, ${found.differences.length} differences shown`,
  )
  if (found.differences.length > 0) process.exitCode = 1
}

async function again(side: Side, seed: number): Promise<void> {
  const verdict = await checkCase(side, seed)
  say(shown(differenceOf(side, seed, verdict.difference ?? 'no difference')))
  if (verdict.difference !== undefined) process.exitCode = 1
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
