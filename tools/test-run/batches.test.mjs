import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { planRun, writeBatches } from './batches.mjs'

const tools = resolve(import.meta.dirname, '..')

/**
 * Runs these files as one batch by Node's runner, in a repository of their own.
 * @param {import('node:test').TestContext} t
 * @param {Record<string, string>} sources
 */
function runBatch(t, sources) {
  const root = mkdtempSync(join(tmpdir(), 'berth-batch-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  symlinkSync(tools, join(root, 'tools'))
  const files = Object.entries(sources).map(([name, source]) => {
    const file = join(root, name)
    mkdirSync(resolve(file, '..'), { recursive: true })
    writeFileSync(file, `import { after, test } from 'node:test'\n${source}`)
    return file
  })
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const flags = ['--test', '--test-reporter=spec', ...writeBatches(root, [files])]
  const { status, stdout } = spawnSync(process.execPath, flags, { cwd: root, env, encoding: 'utf8' })
  return { status, report: stdout }
}

const passes = "test('this passes', () => undefined)"

test('every test file runs once: those of single modules in batches, the longest and those that need it alone', () => {
  const modules = Array.from({ length: 45 }, (_, at) => `web/src/module-${at}.test.ts`)
  const last = ['server/test/chaos/dying.test.ts', 'server/test/repository.test.ts']
  const others = ['server/src/forks.test.ts', ...last, 'tools/check.test.mjs']
  const plan = planRun([...modules, ...others], ['server/src/forks.test.ts'])
  assert.deepEqual(plan.slice(0, 2), [['tools/check.test.mjs'], ['server/src/forks.test.ts']])
  assert.deepEqual(
    plan.slice(-2),
    last.map((file) => [file]),
  )
  assert.deepEqual(plan.slice(2, -2).flat(), modules)
  assert.ok(plan.every(({ length }) => length <= 20))
})

test('the files of a batch are suites of their own, with hooks of their own', (t) => {
  const hook = "after(() => console.log('ended: one'))\n"
  const { status, report } = runBatch(t, { 'one.test.mjs': hook + passes, 'two.test.mjs': passes })
  assert.equal(status, 0, report)
  assert.match(report, /suites 2\n.*pass 2\n.*fail 0/)
  assert.match(report, /ended: one/)
})

test('a batch fails by a test that fails, and the other files still run', (t) => {
  const fails = "test('this fails', () => { throw new Error('no') })"
  const { status, report } = runBatch(t, { 'one.test.mjs': fails, 'two.test.mjs': passes })
  assert.equal(status, 1)
  assert.match(report, /pass 1\n.*fail 1/)
})

test('a batch fails by a file that cannot be loaded', (t) => {
  const { status } = runBatch(t, { 'one.test.mjs': "import './nowhere.mjs'", 'two.test.mjs': passes })
  assert.equal(status, 1)
})

test('a batch fails by a test that ends the process, whatever exit code that gives', (t) => {
  const ends = "test('this ends it', () => process.exit(0))"
  const { status, report } = runBatch(t, { 'one.test.mjs': ends, 'two.test.mjs': passes })
  assert.equal(status, 1, report)
})
