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
  const { NODE_TEST_CONTEXT: _, BERTH_TEST_TIMES: __, ...env } = process.env
  const flags = ['--test', '--test-reporter=spec', ...writeBatches(root, [files])]
  const { status, stdout } = spawnSync(process.execPath, flags, { cwd: root, env, encoding: 'utf8' })
  return { status, report: stdout }
}

const passes = "test('this passes', () => undefined)"

const modules = Array.from({ length: 45 }, (_, at) => `web/src/module-${at}.test.ts`)

test('every test file runs once: those of a folder in batches, those that need it or belong to none alone', () => {
  const others = ['server/src/forks.test.ts', 'server/test/chaos/dying.test.ts', 'server/test/repository.test.ts']
  const plan = planRun([...modules, ...others], ['server/src/forks.test.ts'], {})
  assert.deepEqual(plan.flat().toSorted(), [...modules, ...others].toSorted())
  assert.deepEqual(plan[0], ['server/src/forks.test.ts'])
  for (const file of others) assert.ok(plan.some((batch) => batch.length === 1 && batch[0] === file))
  assert.ok(plan.length < 10 && plan.every(({ length }) => length <= 80))
})

test('batches that take longest begin first, and files that take long share no process with many', () => {
  // The longest file began last once, and four of five processes waited for it.
  const times = { [modules[30] ?? '']: 90, [modules[31] ?? '']: 75 }
  const plan = planRun([...modules, 'tools/check.test.mjs'], [], { ...times, 'tools/check.test.mjs': 85 })
  assert.deepEqual(plan[0], [modules[30]])
  assert.deepEqual(plan[1], ['tools/check.test.mjs'])
  const shared = plan.find((batch) => batch.includes(modules[31] ?? '')) ?? []
  assert.ok(shared.length > 1 && shared.length < 10, shared.join())
  assert.deepEqual(plan.flat().toSorted(), [...modules, 'tools/check.test.mjs'].toSorted())
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
