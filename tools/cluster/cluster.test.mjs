import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { readCounts, reporters, writeCounts } from '../test-run/counts.mjs'
import { runLimited } from './limited.mjs'
import { choose, parts } from './parts.mjs'
import { runPart } from './run-part.mjs'

const root = resolve(import.meta.dirname, '../..')

/** @param {import('node:test').TestContext} t @param {string} [source] of a test file in it */
function folderWith(t, source) {
  const folder = mkdtempSync(join(tmpdir(), 'berth-cluster-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  if (source !== undefined) writeFileSync(join(folder, 'some.test.mjs'), `import { test } from 'node:test'\n${source}`)
  return folder
}

/** @param {string} folder @param {{ left?: number }} [options] */
function run(folder, { left = 60 } = {}) {
  const counts = join(folder, 'counts')
  execFileSync('mkdir', ['-p', counts])
  const part = { name: 'some', files: [join(folder, 'some.test.mjs')], seconds: 1 }
  return runPart(root, part, {}, { counts, left: () => left, stop: new AbortController().signal, say: () => undefined })
}

test('each part names files that exist, and no file of the cluster is left out', () => {
  const named = parts.flatMap(({ files }) => files)
  assert.deepEqual(
    named.filter((file) => !existsSync(join(root, file))),
    [],
  )
  const all = globSync('server/test/cluster/*.ts', { cwd: root })
  assert.deepEqual(
    all.filter((file) => !named.includes(file)),
    [],
  )
})

test('words choose files, and the cluster of others gets no part that breaks or fills it', () => {
  assert.deepEqual(
    choose(['cluster/homes'], { isOwn: true }).flatMap(({ files }) => files),
    ['server/test/cluster/homes.ts'],
  )
  assert.deepEqual(
    choose(['cluster/faults'], { isOwn: false }).map(({ name }) => name),
    [],
  )
})

test('a program that does not end in time is ended, and its last lines are told', async () => {
  const began = performance.now()
  const { problem } = await runLimited('sh', ['-c', 'echo working; sleep 30'], 0.5)
  assert.equal(problem, 'did not end within 1 s: working')
  assert.ok(performance.now() - began < 20_000)
  assert.equal(
    (await runLimited('sh', ['-c', 'echo no such feature >&2; exit 3'], 5)).problem,
    'ended with 3: no such feature',
  )
  assert.equal((await runLimited('true', [], 5)).problem, undefined)
})

test('a part ends with what its tests say, and only one that was ended for want of time before a failure is no failure', async (t) => {
  assert.equal(await run(folderWith(t, `test('a', () => {})`)), 'passed')
  assert.equal(await run(folderWith(t, `test('a', () => { throw new Error('wrong') })`)), 'failed')
  assert.equal(
    await run(folderWith(t, `test('a', () => new Promise((done) => setTimeout(done, 20_000)))`), { left: 1 }),
    'out of time',
  )
})

test('counts of runs are added up, with a test that did not end as a failure', (t) => {
  const folder = folderWith(
    t,
    `test('passes', () => {})
     test('also', () => {})
     test('skipped', { skip: true }, () => {})
     test('fails', () => { throw new Error('wrong') })
     test('hangs', { timeout: 50 }, () => new Promise((done) => setTimeout(done, 200)))`,
  )
  const counts = folderWith(t)
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined }
  for (let times = 0; times < 2; times++)
    spawnSync(process.execPath, ['--test', ...reporters(counts), join(folder, 'some.test.mjs')], { env })
  assert.deepEqual(readCounts(counts), { passed: 4, failed: 4 })
})

test('a machine without time for a cluster skips it in CI, with the reason and without a failure', (t) => {
  const env = {
    ...process.env,
    BERTH_TEST_COUNTS: folderWith(t),
    BERTH_TESTS_END: '1',
    KUBECONFIG: '',
    NODE_TEST_CONTEXT: undefined,
  }
  const cache = folderWith(t)
  const state = join(cache, 'state')
  const program = join(root, 'tools/cluster/test.mjs')
  const settings = { ...env, BERTH_CLUSTER_CACHE: cache, BERTH_CLUSTER_STATE: state, HOME: cache }
  const late = spawnSync(process.execPath, [program, '--or-skip'], { env: settings, encoding: 'utf8' })
  assert.deepEqual([late.status, late.stdout], [0, 'skipped: the cluster: no time is left for it\n'])
})

test('in CI a part that fails is run once more, and one that fails again is a failure, counted once', (t) => {
  const counts = folderWith(t)
  const env = {
    ...process.env,
    BERTH_TEST_COUNTS: counts,
    BERTH_TESTS_END: String(Date.now() / 1000 + 900),
    KUBECONFIG: join(counts, 'none'),
    NODE_TEST_CONTEXT: undefined,
  }
  const program = join(root, 'tools/cluster/test.mjs')
  const ended = spawnSync(process.execPath, [program, '--or-skip', 'runtime-output'], { env, encoding: 'utf8' })
  assert.equal(ended.status, 1)
  assert.equal(ended.stdout.split('repeated, because it failed: contract of the engine port').length, 2)
  assert.deepEqual(readCounts(counts), { passed: 0, failed: 1 })
})

test('CI ends with the sums of all commands, after what passed only when it was repeated', (t) => {
  const counts = folderWith(t)
  writeCounts(counts, { passed: 90, failed: 0 }, ['server/test/some.test.ts'])
  writeCounts(counts, { passed: 7, failed: 0 })
  const script = readFileSync(join(root, '.ci/run'), 'utf8')
  const last = script.trim().split('\n').slice(-2).join('\n')
  const env = { ...process.env, BERTH_TEST_COUNTS: counts }
  assert.deepEqual(spawnSync('bash', ['-c', last], { env, encoding: 'utf8' }).stdout.split('\n'), [
    'flaky: server/test/some.test.ts (failed, and passed when repeated)',
    '97 passed, 0 failed',
    '',
  ])
})
