import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { locked } from './lock.mjs'

/** @param {import('node:test').TestContext} t */
function lockFile(t) {
  const folder = mkdtempSync(join(tmpdir(), 'berth-lock-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return join(folder, 'lock')
}

// In a container each run's builder has the same process id: after an interrupted build every start waited for five minutes.
test('a lock with the id of this process that it does not hold is one of an earlier run, and is taken over at once', async (t) => {
  const file = lockFile(t)
  writeFileSync(file, String(process.pid))
  /** @type {string[]} */
  const said = []
  const start = performance.now()
  await locked(
    file,
    async () => assert.ok(existsSync(file)),
    (line) => said.push(line),
  )
  assert.ok(performance.now() - start < 5_000)
  assert.deepEqual(said, [])
  assert.ok(!existsSync(file))
})

test('two pieces of work of one process are done one after the other', async (t) => {
  const file = lockFile(t)
  /** @type {string[]} */
  const steps = []
  const work = (/** @type {string} */ name) => async () => {
    steps.push(`${name} begins`)
    await new Promise(setImmediate)
    steps.push(`${name} ends`)
  }
  await Promise.all([locked(file, work('one')), locked(file, work('two'))])
  assert.deepEqual(steps, ['one begins', 'one ends', 'two begins', 'two ends'])
})

test('a lock of another process that lives is waited for, with a line that names it', async (t) => {
  const file = lockFile(t)
  const other = spawn('sleep', ['60'])
  t.after(() => other.kill('SIGKILL'))
  writeFileSync(file, String(other.pid))
  /** @type {string[]} */
  const said = []
  const exit = once(other, 'exit')
  const say = (/** @type {string} */ line) => {
    said.push(line)
    other.kill('SIGKILL')
  }
  assert.equal(await locked(file, async () => 'done', say), 'done')
  await exit
  assert.equal(said.length, 1)
  assert.match(said[0] ?? '', new RegExp(`^waiting for process ${other.pid}, `))
})
