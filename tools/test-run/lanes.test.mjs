import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { lanesOf } from './lanes.mjs'
import { newNotes, readNotes, runsNoted } from './notes.mjs'

/** A process that ran from one second of the machine's clock to another. */
const ran = (/** @type {number} */ from, /** @type {number} */ to) => ({
  file: `batch-${from}`,
  pid: from,
  from,
  wall: to - from,
  cpu: 0,
  starts: 0,
})

test('processes that followed each other are one row, and rows tell when their last process ended', () => {
  const lanes = lanesOf([ran(105, 140), ran(100, 104), ran(100, 130), ran(131, 135)], ({ wall }) => wall - 1)
  assert.deepEqual(
    lanes.map(({ processes, ended, inFiles }) => [processes.map(({ from }) => from), ended, inFiles]),
    [
      [[100, 105], 40, 37],
      [[100, 131], 35, 32],
    ],
  )
})

test('each run has notes of its own, and those of the oldest runs go', (t) => {
  // The notes of npm test were gone after npm run test:more, which CI runs next.
  const root = mkdtempSync(join(tmpdir(), 'berth-notes-'))
  t.after(() => rmSync(root, { recursive: true }))
  writeFileSync(newNotes(root, 'usual'), `${JSON.stringify(ran(1, 2))}\n`)
  writeFileSync(newNotes(root, 'more'), '')
  const [more, usual] = ['-more', '-usual'].map((word) => runsNoted(root).find((name) => name.includes(word)) ?? '')
  assert.deepEqual(readNotes(root, usual ?? ''), [ran(1, 2)])
  assert.deepEqual(readNotes(root, more ?? ''), [])
  for (let year = 2000; year < 2030; year++)
    writeFileSync(join(root, '.berth/test-times', `${year}-01-01T00-00-00-usual.jsonl`), '')
  newNotes(root, 'usual')
  assert.equal(runsNoted(root).length, 19)
  assert.ok(runsNoted(root).includes(more ?? ''))
})
