import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { HostReport } from '#/engines/runtime.ts'
import { localize } from '@berth/texts/localize.ts'
import { HostResources } from './host-resources.ts'

const GiB = 1024 ** 3

const roomy: HostReport = {
  cores: 2,
  ociRuntimes: ['runc'],
  hasGpus: false,
  isThisMachine: true,
  supportsHomeQuota: false,
  supportsLayerLimit: false,
  addressesLeft: 1_000,
  memory: { total: 24 * GiB, available: 20 * GiB },
  disk: { total: 250 * GiB, free: 200 * GiB },
  rulesAre: 'host rules',
  rules: { areSet: true },
}

function arrange(first: Partial<HostReport> = {}) {
  /** Without a report the engine does not answer. */
  const host: { report: HostReport | undefined; memory: HostReport['memory'] } = {
    report: { ...roomy, ...first },
    memory: null,
  }
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  const answer = async () => {
    if (!host.report) throw new RuntimeError('unreachable', 'host')
    return host.report
  }
  return { guard: new HostResources({ host: answer, hostMemory: async () => host.memory }, log), host, lines }
}

const isRefused = async (fields: Partial<HostReport>, isNew = true) => {
  const { guard } = arrange(fields)
  await guard.ask()
  return guard.shortage(isNew) !== undefined
}

test('nothing is refused on a host that has room, nor before anything is known of it', async () => {
  assert.equal(await isRefused({}), false)
  assert.equal(await isRefused({ addressesLeft: null, memory: null, disk: null }), false)
  assert.equal(arrange({ addressesLeft: 0 }).guard.shortage(true), undefined)
})

test('without an address nothing is started, and what was started since the host was asked counts', async () => {
  assert.equal(await isRefused({ addressesLeft: 0 }, false), true)
  const { guard } = arrange({ addressesLeft: 2 })
  await guard.ask()
  guard.noteStart()
  assert.equal(guard.shortage(false), undefined)
  guard.noteStart()
  assert.ok(guard.shortage(false))
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
  assert.equal(guard.shortage(true), undefined)
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
  assert.ok(guard.shortage(true))
  assert.equal(guard.report?.cores, 2)
})

// After a restart of the machine the engine takes more than its 3 s: memory was not checked while hundreds of starts waited.
test('memory counts while the engine has never answered; and the operator is told once that nothing else does', async () => {
  const { guard, host, lines } = arrange()
  host.report = undefined
  host.memory = { total: 8 * GiB, available: 0.1 * GiB }
  await guard.ask()
  await guard.ask()
  assert.equal(guard.shortage(false), 'memory')
  assert.equal(await guard.isMemoryShort(), true)
  assert.equal(lines.length, 1)
  host.memory = { total: 8 * GiB, available: 4 * GiB }
  await guard.ask()
  assert.equal(guard.shortage(false), undefined)
})

test('a launch has a host asked again that did not answer, without waiting for the next interval', async () => {
  const { guard, host } = arrange({ addressesLeft: 0 })
  const { report } = host
  host.report = undefined
  await guard.ask()
  host.report = report
  const clock = performance.now.bind(performance)
  performance.now = () => clock() + 1_001
  try {
    assert.equal(guard.shortage(false), undefined)
  } finally {
    performance.now = clock
  }
  await turn()
  assert.equal(guard.shortage(false), 'addresses')
})

test('what is asked anew is of after the call, also while an earlier question has no answer', async () => {
  const answers = [{ ...roomy, addressesLeft: 0 }, roomy]
  const begun: PromiseWithResolvers<void>[] = []
  const guard = new HostResources(
    {
      host: async () => {
        const [report = roomy, answered] = [answers.shift(), Promise.withResolvers<void>()]
        begun.push(answered)
        await answered.promise
        return report
      },
      hostMemory: async () => null,
    },
    pino({ level: 'silent' }),
  )
  void guard.ask()
  const anew = guard.askAnew()
  for (const at of [0, 1]) {
    await turn()
    begun[at]?.resolve()
  }
  await anew
  assert.equal(guard.shortage(false), undefined)
})
