import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { writeBatches } from './batches.mjs'
import { endOfRun, filesToRepeat, limitOfRun, repeatTime, runRepeating, timeAllowed } from './repeat.mjs'
import { runPrograms } from './runner.mjs'

/**
 * Runs the files as one batch by Node's runner, in a repository of their own.
 * @param {import('node:test').TestContext} t
 * @param {Record<string, string>} sources
 * @param {NodeJS.ProcessEnv} env
 */
async function run(t, sources, env = {}) {
  const root = mkdtempSync(join(tmpdir(), 'berth-repeat-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  symlinkSync(resolve(import.meta.dirname, '..'), join(root, 'tools'))
  // By their whole paths: the program of a batch, behind the link, takes others as files of this repository.
  const files = Object.entries(sources).map(([name, source]) => {
    writeFileSync(join(root, name), `import { test } from 'node:test'\n${source}`)
    return join(root, name)
  })
  const settings = { ...process.env, NODE_TEST_CONTEXT: undefined, BERTH_TEST_TIMES: undefined, ...env }
  const ending = await runPrograms(root, writeBatches(root, [files]), {
    flags: [],
    env: settings,
    limit: 60_000,
    output: 'ignore',
  })
  return { ...ending, failed: ending.failed.map((file) => file.replace(`${root}/`, '')) }
}

const passes = "test('this passes', () => undefined)"
const fails = "test('this fails', () => { throw new Error('no') })"

test('a run tells the files that failed, with the counts of all tests', async (t) => {
  const { code, failed, counts } = await run(t, { 'one.test.mjs': passes, 'two.test.mjs': fails })
  assert.deepEqual([code, failed], [1, ['two.test.mjs']])
  // The file is a suite, which counts as no test.
  assert.deepEqual(counts, { passed: 1, failed: 1 })
})

test('a process that ends before its last test is told as a program that failed', async (t) => {
  const { code, failed } = await run(t, { 'one.test.mjs': "test('this ends it', () => process.exit(0))" })
  assert.equal(code, 1)
  assert.ok(failed.includes('.berth/test-batches/batch-000.test.mjs'), failed.join())
})

test('a file for which no time is left is skipped, and none fails', async (t) => {
  const { code, counts } = await run(t, { 'one.test.mjs': fails }, { BERTH_TESTS_END: String(Date.now() / 1000 + 5) })
  assert.deepEqual([code, counts], [0, { passed: 0, failed: 0 }])
})

test('the first run leaves time for a repetition, which is skipped at no time', async (t) => {
  const end = Date.now() / 1000 + repeatTime + 5
  const skipping = { BERTH_TESTS_END: endOfRun(end, false) }
  assert.deepEqual((await run(t, { 'one.test.mjs': passes }, skipping)).counts, { passed: 0, failed: 0 })
  const repeating = { BERTH_TESTS_END: endOfRun(Date.now() / 1000 + 5, true) }
  assert.deepEqual((await run(t, { 'one.test.mjs': passes }, repeating)).counts, { passed: 1, failed: 0 })
  // Where CI does not run them, nothing ends.
  assert.equal(endOfRun(-Infinity, false), undefined)
})

test('a repetition is ended a few minutes after the end of CI, and a first run by its own limit alone', () => {
  assert.equal(limitOfRun(3_000_000, false, 10), 3_000_000)
  assert.equal(limitOfRun(3_000_000, true, 10), (10 + repeatTime) * 1000)
  assert.equal(limitOfRun(3_000_000, true, 9_000), 3_000_000)
})

test('a few files that failed are repeated, when there is time for all of them', () => {
  const files = ['1', '2', '3', '4', '5', '6'].map((name) => `server/test/${name}.test.ts`)
  const times = { [files[0] ?? '']: 40 }
  const failed = files.slice(0, 2)
  const needed = failed.reduce((sum, file) => sum + timeAllowed(file, times), 0)
  assert.ok(needed > 100 && needed < 150, String(needed))
  assert.deepEqual(filesToRepeat([...failed, ...failed], files, needed, times), failed)
  assert.deepEqual(filesToRepeat(failed, files, needed - 1, times), [])
  // So many fail by the change.
  assert.deepEqual(filesToRepeat(files, files, 3600, times), [])
  // Which of its files did not run is not known.
  assert.deepEqual(filesToRepeat([...failed, '.berth/test-batches/batch-003.test.mjs'], files, 3600, times), [])
})

/** @param {number[]} codes of the runs that follow each other */
function runsWith(...codes) {
  /** @type {(string[] | undefined)[]} */
  const asked = []
  const run = async (/** @type {string[] | undefined} */ repeated) => {
    asked.push(repeated)
    const code = codes.shift() ?? assert.fail('a further run')
    return { code, failed: code === 0 ? [] : ['b.test.ts'], counts: { passed: 8, failed: code === 0 ? 0 : 2 } }
  }
  return { asked, run }
}

test('what failed and passes alone counts as passed; what fails again is a failure, and without time nothing is repeated', async () => {
  const files = ['a.test.ts', 'b.test.ts']
  const late = runsWith(1, 0)
  assert.deepEqual(await runRepeating(late.run, files, () => 60), {
    code: 0,
    failed: [],
    flaky: ['b.test.ts'],
    counts: { passed: 10, failed: 0 },
  })
  assert.deepEqual(late.asked, [undefined, ['b.test.ts']])
  const broken = runsWith(1, 1)
  const failure = { code: 1, failed: ['b.test.ts'], counts: { passed: 8, failed: 2 } }
  assert.deepEqual(await runRepeating(broken.run, files, () => 60), failure)
  assert.deepEqual(await runRepeating(runsWith(1).run, files, () => -Infinity), failure)
  assert.equal((await runRepeating(runsWith(0).run, files, () => 60)).code, 0)
})

// A repetition whose files began too late skipped them, ended with 0, and the failures counted as passed.
test('a repetition in which fewer tests passed than had failed is a failure, also when it ends with 0', async () => {
  const failure = { code: 1, failed: ['b.test.ts'], counts: { passed: 8, failed: 2 } }
  for (const [first, counts, code] of /** @type {const} */ ([
    [failure, { passed: 0, failed: 0 }, 1],
    [failure, { passed: 1, failed: 0 }, 1],
    [failure, { passed: 2, failed: 1 }, 1],
    [failure, { passed: 2, failed: 0 }, 0],
    // It could not be loaded.
    [{ ...failure, counts: { passed: 8, failed: 0 } }, { passed: 0, failed: 0 }, 1],
  ])) {
    const endings = [first, { code: 0, failed: [], counts }]
    const ending = await runRepeating(
      async () => endings.shift() ?? assert.fail('a further run'),
      ['b.test.ts'],
      () => 60,
    )
    assert.equal(ending.code, code, JSON.stringify(counts))
    if (code === 1) assert.deepEqual(ending, first)
  }
})
