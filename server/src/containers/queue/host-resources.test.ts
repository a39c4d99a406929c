import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { HostReport } from '#/runtime/host-capacity.ts'
import { localize } from '#/messages/localize.ts'
import { HostResources } from './host-resources.ts'

const GiB = 1024 ** 3

const roomy: HostReport = {
  cores: 2,
  ociRuntimes: ['runc'],
  hasGpus: false,
  isThisMachine: true,
  supportsHomeQuota: false,
  addressesLeft: 1_000,
  memory: { total: 24 * GiB, available: 20 * GiB },
  disk: { total: 250 * GiB, free: 200 * GiB },
  rulesAre: 'host rules',
  rules: { areSet: true },
}

function arrange(first: Partial<HostReport> = {}) {
  const host: { report: HostReport | undefined } = { report: { ...roomy, ...first } }
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  const answer = async () => {
    if (!host.report) throw new RuntimeError('unreachable', 'host')
    return host.report
  }
  return { guard: new HostResources({ host: answer }, log), host, lines }
}

const isRefused = async (fields: Partial<HostReport>, isNew = true) => {
  const { guard } = arrange(fields)
  await guard.ask()
  return guard.refusal(isNew)?.extra.reason === 'full'
}

test('nothing is refused on a host that has room, nor before anything is known of it', async () => {
  assert.equal(await isRefused({}), false)
  assert.equal(await isRefused({ addressesLeft: null, memory: null, disk: null }), false)
  assert.equal(arrange({ addressesLeft: 0 }).guard.refusal(true), undefined)
})

test('without an address nothing is started, and what was started since the host was asked counts', async () => {
  assert.equal(await isRefused({ addressesLeft: 0 }, false), true)
  const { guard } = arrange({ addressesLeft: 2 })
  await guard.ask()
  guard.noteStart()
  assert.equal(guard.refusal(false), undefined)
  guard.noteStart()
  assert.ok(guard.refusal(false))
})

test('little disk refuses what is made, not what is only started; of a large disk 10 GiB are enough', async () => {
  assert.equal(await isRefused({ disk: { total: 40 * GiB, free: 0.9 * GiB } }), true)
  assert.equal(await isRefused({ disk: { total: 40 * GiB, free: 0.9 * GiB } }, false), false)
  assert.equal(await isRefused({ disk: { total: 40 * GiB, free: 1.1 * GiB } }), false)
  assert.equal(await isRefused({ disk: { total: 200 * GiB, free: 3.9 * GiB } }), true)
  assert.equal(await isRefused({ disk: { total: 9_000 * GiB, free: 11 * GiB } }), false)
})

test('little disk alone refuses what has been admitted as a start, and is made anew after all', async () => {
  const { guard, host } = arrange({ addressesLeft: 1 })
  await guard.ask()
  guard.noteStart()
  assert.equal(guard.diskRefusal(), undefined, 'the last address is its own')
  host.report = { ...roomy, disk: { total: 40 * GiB, free: 0.9 * GiB } }
  await guard.ask()
  assert.equal(guard.diskRefusal()?.extra.reason, 'full')
})

test('little memory refuses; what limits allow does not count, and a small host is not refused all it has', async () => {
  assert.equal(await isRefused({ memory: { total: 8 * GiB, available: 0.2 * GiB } }, false), true)
  assert.equal(await isRefused({ memory: { total: 8 * GiB, available: 0.3 * GiB } }), false)
  assert.equal(await isRefused({ memory: { total: 1 * GiB, available: 0.2 * GiB } }), false)
  assert.equal(await isRefused({ memory: { total: 400 * GiB, available: 1.1 * GiB } }), false)
})

test('memory is short where operators are warned of it, and for a minute after: what was killed has freed some', async () => {
  const { guard, host } = arrange()
  assert.equal(await guard.isMemoryShort(), false)
  host.report = { ...roomy, memory: { total: 24 * GiB, available: 2 * GiB } }
  assert.equal(await guard.isMemoryShort(), true)
  host.report = roomy
  assert.equal(await guard.isMemoryShort(), true)
  const clock = performance.now.bind(performance)
  performance.now = () => clock() + 61_000
  try {
    assert.equal(await guard.isMemoryShort(), false)
  } finally {
    performance.now = clock
  }
  assert.equal(await arrange({ memory: null }).guard.isMemoryShort(), false)
})

test('an operator is warned before anything is refused; once when it begins, and told when it is over', async () => {
  const { guard, host, lines } = arrange({ disk: { total: 40 * GiB, free: 3 * GiB } })
  await guard.ask()
  assert.equal(guard.refusal(true), undefined)
  assert.equal(guard.warnings().length, 1)
  assert.match(guard.warnings().map((each) => localize('en', each))[0] ?? '', /^Little disk: 3\.0 GiB of 40\.0 GiB/)
  host.report = { ...roomy, disk: { total: 40 * GiB, free: 2 * GiB } }
  await guard.ask()
  assert.equal(lines.length, 1)
  host.report = roomy
  await guard.ask()
  assert.deepEqual(guard.warnings(), [])
  assert.match(lines[1] ?? '', /Little disk: resolved/)
})

test('when the engine does not answer, what it said last goes on to count', async () => {
  const { guard, host } = arrange({ addressesLeft: 0 })
  await guard.ask()
  host.report = undefined
  await guard.ask()
  assert.ok(guard.refusal(true))
  assert.equal(guard.report?.cores, 2)
})
