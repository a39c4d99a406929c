// Part of npm run test:more: it tries templates in containers, each of which takes seconds; its rules have tests of their own.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { resultOf, runCommand } from '#test/support/command-line.ts'
import { onlyLong } from '#test/support/extent.ts'
import { leftovers, startTrial, trial, type Report } from './try-samples.ts'

/** The program `berth templates try`, on the machine's own engine, in the machine's own Chromium. */

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-try-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

const kindsOf = ({ attempts: [first] }: Report) => [
  ...new Set(first?.findings.flatMap(({ level, kind }) => (level === 'breaks' ? kind : [])) ?? []),
]

test('an application with absolute addresses breaks as given, the template that works is tried and printed, and nothing stays', async (t) => {
  const folder = folderFor(t)
  const child = startTrial(folder, 'base-path', '--json')
  const { code, stdout, stderr } = await resultOf(child)
  const report = JSON.parse(stdout) as Report
  assert.equal(code, 1, stderr)
  assert.match(stderr, /base-path breaks as it is; see above what works/)
  assert.match(report.browser ?? '', /Chrom/)
  assert.equal(report.works, false)
  assert.deepEqual(report.proposal?.routing, 'path')
  assert.equal(report.proposal?.templates['base-path']?.strip_prefix, false)
  assert.deepEqual(
    report.attempts.map(({ change, works }) => [change, works]),
    [
      ['as given', false],
      ['strip_prefix: false', true],
    ],
  )
  assert.deepEqual(await leftovers(child.pid), [])
  assert.deepEqual(
    readdirSync(folder).filter((name) => name !== 'templates.yaml'),
    [],
  )
})

test('an application that says whether it is used is proposed with idle_probe', async (t) => {
  for (const [mode, probe] of [
    ['kernels', 'jupyter'],
    ['heartbeat', 'code-server'],
  ] as const) {
    const { report, stderr } = await trial(folderFor(t), mode, '--http')
    assert.equal(report.works, true, stderr)
    assert.equal(report.proposal?.templates[mode]?.idle_probe, probe)
  }
})

test('Ctrl-C ends a trial, and what it started is removed', async (t) => {
  const folder = folderFor(t)
  const child = startTrial(folder, 'relative')
  while ((await leftovers(child.pid)).length === 0) assert.equal(child.exitCode, null)
  child.kill('SIGINT')
  await once(child, 'exit')
  assert.equal(child.exitCode, 130)
  assert.deepEqual(await leftovers(child.pid), [])
  assert.deepEqual(
    readdirSync(folder).filter((name) => name !== 'templates.yaml'),
    [],
  )
})

test('an unknown name of a file is wrong usage, and an image that cannot be had a reason', async (t) => {
  const folder = folderFor(t)
  const wrong = await resultOf(startTrial(folder, 'relative', '--timeout', 'x'))
  assert.deepEqual([wrong.code, /--timeout takes/.test(wrong.stderr)], [2, true], wrong.stderr)
  const settings = { DATA_DIR: path.join(folder, 'data'), TMPDIR: folder }
  const missing = await runCommand(settings, 'template', 'try', 'nowhere.invalid/nothing:1', '--http')
  assert.equal(missing.code, 1)
  assert.match(missing.stderr, /^berth: It could not be tried: .*nowhere\.invalid/m)
})

test(
  'an application with relative addresses works as given, its socket and its clicks included',
  onlyLong,
  async (t) => {
    const { code, report, stderr } = await trial(folderFor(t), 'relative')
    assert.equal(code, 0, stderr)
    const [only] = report.attempts
    assert.deepEqual([report.works, report.attempts.length, only?.findings], [true, 1, []])
    assert.deepEqual([only?.sockets !== 0, (only?.clicks ?? 0) > 0], [true, true])
  },
)

/** Mode of the sample, what breaks as given, and what works: a change, or a host of its own. */
const samples: readonly (readonly [mode: string, kinds: readonly string[], proposed: RegExp | null])[] = [
  ['absolute', ['address'], /CONTAINER_ROUTING=subdomain/],
  ['location', ['mixed content'], null],
  ['redirect', ['address', 'redirect', 'page'], /CONTAINER_ROUTING=subdomain/],
  ['script-redirect', ['address', 'redirect', 'page'], /CONTAINER_ROUTING=subdomain/],
  ['socket', ['socket'], /CONTAINER_ROUTING=subdomain/],
  ['late-socket', ['socket'], /CONTAINER_ROUTING=subdomain/],
  ['worker', ['address', 'worker'], /CONTAINER_ROUTING=subdomain/],
  ['cookie', ['cookie'], /CONTAINER_ROUTING=subdomain/],
  ['mixed', ['mixed content'], null],
  ['inner-address', ['address'], null],
  ['frame', ['frame'], null],
  ['isolation', ['isolation'], /allow_headers/],
  ['port', ['start'], /port: 3000/],
  ['loopback', ['start'], null],
  ['open-path', ['page'], null],
  ['empty', ['page'], null],
  ['ends', ['start'], null],
]

for (const [mode, kinds, proposed] of samples)
  test(
    `sample "${mode}": ${kinds.join(', ')} is found, and ${proposed ? `what works: ${proposed.source}` : 'that nothing mends it'}`,
    onlyLong,
    async (t) => {
      const { code, report, stdout, stderr } = await trial(folderFor(t), mode, '--timeout', '12')
      assert.equal(code, 1, stderr)
      const found = kindsOf(report)
      assert.ok(found.length > 0 && found.every((kind) => kinds.includes(kind)), `${found.join()}\n${stdout}`)
      const last = report.attempts.at(-1)
      assert.equal(last?.works, proposed !== null, stdout)
      if (proposed) assert.match(last.change, proposed)
      assert.equal(report.proposal !== null, proposed !== null)
    },
  )

test('a slow start is a hint to set ready_path', onlyLong, async (t) => {
  const { code, report } = await trial(folderFor(t), 'slow')
  assert.equal(code, 0)
  assert.match(report.attempts[0]?.findings.map(({ what }) => what).join() ?? '', /set ready_path/)
})

test('without a browser HTTP alone is looked at, and the command says so', onlyLong, async (t) => {
  const { code, report, stderr } = await trial(folderFor(t), 'absolute', '--http')
  assert.deepEqual([code, report.browser], [1, null], stderr)
  assert.deepEqual(kindsOf(report), ['address'])
})
