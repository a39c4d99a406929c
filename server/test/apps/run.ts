/**
 * `npm run test:apps`: opens real applications behind the prefix, one after the other, and writes into docs/reference/tested-applications.md what it
 * saw. Arguments narrow it, as of `npm test`: `npm run test:apps -- vite`; the documents are left alone then.
 * It is no part of `npm test`, because it takes the applications from the npm registry and from Debian and, one of them, by `pip`.
 */
import { globSync } from 'node:fs'
import path from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { type Fact, recordRun } from './support/record-run.ts'

/** In ms, for one application; the first time its image is made, and one moves a gigabyte both ways. */
const limit = 1_200_000
/** It takes longer than an hour, and runs when it is named. */
const ofAnHour = 'hour.app.ts'

const words = process.argv.slice(2)
const all = globSync('*.app.ts', { cwd: import.meta.dirname }).sort()
const chosen = all.filter((file) =>
  words.length === 0 ? file !== ofAnHour : words.some((word) => file.includes(word)),
)
const facts: Fact[] = []
const tests = run({
  files: chosen.map((file) => path.join(import.meta.dirname, file)),
  concurrency: false,
  timeout: chosen.includes(ofAnHour) ? limit * 4 : limit,
})
const note = (held: boolean) => (event: { name: string; file?: string | undefined; skip?: string | boolean }) =>
  facts.push({
    app: path.basename(event.file ?? '', '.app.ts'),
    title: event.name,
    held,
    skipped: typeof event.skip === 'string' ? event.skip : null,
  })
tests.on('test:pass', note(true))
tests.on('test:fail', note(false))
tests.on('end', () => {
  if (words.length === 0) recordRun(facts)
  process.exitCode = facts.length > 0 && facts.every(({ held }) => held) ? 0 : 1
})
tests.compose(new spec()).pipe(process.stdout)
