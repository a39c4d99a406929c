import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

/** Errors that come behind an asynchronous step of a test, and hooks and subtests that do. */
const source = `
import { after, before, describe, test } from 'node:test'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
const fail = () => { throw new Error('late') }
test('timer', async () => { setTimeout(fail, 5); await sleep(100) })
test('promise', async () => { void sleep(5).then(fail); await sleep(100) })
test('request', async () => {
  const server = createServer((_, response) => { response.end(); fail() }).listen(0)
  await fetch('http://127.0.0.1:' + server.address().port)
  await sleep(100)
  server.close()
})
describe('suite', async () => {
  await sleep(5)
  before(() => sleep(1))
  after(() => console.log('hook of the suite'))
  test('inside', async () => { setImmediate(fail); await sleep(100) })
  test('together', { concurrency: 2 }, async (t) => {
    await Promise.all([
      t.test('one', async () => { process.nextTick(fail); await sleep(100) }),
      t.test('other', () => sleep(100)),
    ])
  })
})
test('behind', async (t) => { await t.test('part', () => sleep(1)); t.after(() => console.log('hook of the test')) })
`

test('errors, subtests and hooks belong to the tests in which they began, as by the runner itself', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-scopes-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'late.test.mjs')
  writeFileSync(file, source)
  const report = (/** @type {string[]} */ ...flags) => {
    const { NODE_TEST_CONTEXT: _, BERTH_TEST_TIMES: __, ...env } = process.env
    const args = ['--test', '--test-reporter=tap', ...flags, file]
    const { stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
    return stdout.split('\n').filter((line) => /^ *(not )?ok |hook of|^# (tests|suites|pass|fail)/.test(line))
  }
  const lines = report('--import', join(import.meta.dirname, 'test-scopes.mjs'))
  assert.deepEqual(lines, report())
  assert.ok(lines.includes('    not ok 1 - inside') && lines.includes('# pass 3'), lines.join('\n'))
})
