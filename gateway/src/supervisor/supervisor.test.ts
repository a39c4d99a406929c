import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { RecordingGateway } from '@berth/server/test/support/gateway/recording-gateway.ts'
import { Supervisor, connectApiProcess, type SupervisorTimes } from './supervisor.ts'
import { waitLimit } from '@berth/server/test/support/extent.ts'

const standIn = path.resolve(import.meta.dirname, '../../../server/test/support/gateway/fake-api-process.ts')
const quick: Partial<SupervisorTimes> = {
  minBackoff: 20,
  maxBackoff: 80,
  pingEvery: 20,
  pingTimeout: 10_000,
  stopTimeout: 10_000,
}

/** Keeps stand-ins, whose vices are given one after the other; from the last on, all have the last one. */
function supervise(t: TestContext, vices: readonly string[], times: Partial<SupervisorTimes> = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-supervisor-'))
  const diary = path.join(folder, 'diary')
  writeFileSync(diary, '')
  const gateway = new RecordingGateway()
  const forks: ChildProcess[] = []
  const said: string[] = []
  const replacements: boolean[] = []
  const supervisor = new Supervisor({
    begin: (isReplacement) => {
      replacements.push(isReplacement)
      const child = fork(standIn, [vices[Math.min(forks.length, vices.length - 1)] ?? '', diary])
      forks.push(child)
      return connectApiProcess(child, gateway, (problem) => said.push(problem))
    },
    announce: (words) => said.push(`announced: ${words.trim()}`),
    logLine: (_level, line) => said.push(line),
    times: { ...quick, ...times },
  })
  t.after(async () => {
    await supervisor.stop(100)
    for (const child of forks) child.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  })
  const until = async (what: string, isSo: () => boolean) => {
    for (const limit = performance.now() + waitLimit(20_000); !isSo(); await sleep(5))
      assert.ok(performance.now() < limit, `not within 20 s: ${what}; said: ${said.slice(-20).join(' | ')}`)
  }
  const hasSaid = (words: string) => until(words, () => said.some((line) => line.includes(words)))
  const read = () => readFileSync(diary, 'utf8')
  const forked = (at: number) => forks[at] ?? assert.fail(`there is no process ${at}`)
  return {
    supervisor,
    gateway,
    forks,
    forked,
    said,
    replacements,
    hasSaid,
    until,
    read,
    ended: supervisor.run(),
  }
}

test('the exit code of an API process that never came up is ours, and nothing is started again', async (t) => {
  for (const [vice, code] of [
    ['unloadable', 7],
    ['unstartable', 3],
  ] as const) {
    const { ended, forks, said } = supervise(t, [vice])
    assert.equal(await ended, code)
    assert.equal(forks.length, 1)
    assert.deepEqual(said, [])
  }
})

test('an API process that is killed is started again at once, told once each, and announced only the first time', async (t) => {
  // After any pause it would come too late for this test.
  const { forked, said, hasSaid, gateway, supervisor, ended } = supervise(t, ['good'], {
    minBackoff: 60_000,
    maxBackoff: 60_000,
  })
  await hasSaid('announced')
  const control = gateway.control
  forked(0).kill('SIGKILL')
  await hasSaid('the API is back')
  assert.deepEqual(said, [
    `announced: ready ${forked(0).pid}`,
    'the API process ended by SIGKILL; it is started again at once',
    'the API is back',
  ])
  assert.notEqual(gateway.control, control)
  await supervisor.stop(5000)
  assert.equal(await ended, 0)
})

test('one that ends again and again is started after longer and longer pauses, up to the maximum', async (t) => {
  const { said, until } = supervise(t, ['mortal'])
  const pauses = () => said.flatMap((line) => /exit code 9; it is started again (.*)/.exec(line)?.[1] ?? [])
  await until('five ends', () => pauses().length >= 5)
  assert.deepEqual(pauses().slice(0, 5), ['at once', 'in 0.02 s', 'in 0.04 s', 'in 0.08 s', 'in 0.08 s'])
})

test('after a long life an end is the first again', async (t) => {
  const { said, until } = supervise(t, ['mortal'], { backoffResetAfter: 20 })
  await until('three ends', () => said.filter((line) => line.includes('at once')).length >= 3)
})

test('one that no longer turns is killed and started again', async (t) => {
  const { hasSaid } = supervise(t, ['deaf', 'good'], { pingTimeout: 300 })
  await hasSaid('has not answered for 0.3 s and is killed')
  await hasSaid('the API is back')
})

// The health check was refused where it should have waited, which ended the watch: a process that hung was left in its place.
test('one that no longer turns is killed also when no more can be sent to it', async (t) => {
  const { hasSaid, gateway, said } = supervise(t, ['deaf', 'good'], { pingTimeout: 1_000 })
  await hasSaid('announced')
  const report = `an app fails: ${'x'.repeat(100)}`
  while (!said.includes(report)) {
    for (let each = 0; each < 1_000; each++) gateway.control?.report(report)
    await sleep(1)
  }
  await hasSaid('is killed')
  await hasSaid('the API is back')
})

test('replaced on demand: the old one stops when the new one is loaded, and the new one starts when the old one is gone', async (t) => {
  const { supervisor, forked, hasSaid, said, read, replacements } = supervise(t, ['good', 'slow to load'])
  await hasSaid('announced')
  await supervisor.replace()
  await hasSaid('the API is back')
  const [first, second] = [forked(0).pid, forked(1).pid]
  assert.equal(read(), `${first} start\n${first} stop\n${second} start\n`)
  // The new one knows that it has time to prepare its start.
  assert.deepEqual(replacements, [false, true])
  assert.ok(!said.join().includes('started again'))
})

// The second SIGHUP was dropped without a word, and the settings that were edited last were not in force.
test('a replacement that is asked for while one is loaded, or before the first start, follows it', async (t) => {
  const { supervisor, forks, forked, hasSaid, read, until } = supervise(t, ['slow to load', 'slow to load', 'good'])
  const isStarted = (at: number) => forks.length > at && read().includes(`${forked(at).pid} start\n`)
  await supervisor.replace()
  await hasSaid('another one follows it')
  await hasSaid('to replace the old one')
  await supervisor.replace()
  await until('the start of the third', () => isStarted(2))
  assert.ok(isStarted(0) && read().includes(`${forked(1).pid} stop\n`))
  await supervisor.stop(5_000)
  assert.equal(forks.length, 3)
})

test('a new one that does not come up leaves the old one in its place', async (t) => {
  const { supervisor, forked, hasSaid, read } = supervise(t, ['good', 'unloadable'])
  await hasSaid('announced')
  await supervisor.replace()
  await hasSaid('the old one goes on')
  assert.equal(forked(0).exitCode, null)
  assert.ok(!read().includes('stop'))
})

test('a new one that speaks another version gets neither store nor engine, and the old one goes on', async (t) => {
  const { supervisor, forked, hasSaid, read } = supervise(t, ['good', 'other version'])
  await hasSaid('announced')
  await supervisor.replace()
  await hasSaid('stop Berth and start it again')
  await hasSaid('the old one goes on')
  assert.equal(read(), `${forked(0).pid} start\n`)
  assert.equal(forked(0).exitCode, null)
})

test('an old one that does not stop is killed after its time, and the new one starts', async (t) => {
  const { supervisor, forked, hasSaid } = supervise(t, ['never stops', 'good'], { stopTimeout: 500 })
  await hasSaid('announced')
  await supervisor.replace()
  assert.equal(forked(0).signalCode, 'SIGKILL')
  await hasSaid('the API is back')
})

test('when the old one dies while the new one is loaded, one is left at the end, and it runs', async (t) => {
  const { supervisor, forks, forked, hasSaid, said, until } = supervise(t, ['good', 'slow to load', 'good', 'good'])
  await hasSaid('announced')
  const replaced = supervisor.replace()
  forked(0).kill('SIGKILL')
  await replaced
  await hasSaid('the API is back')
  const living = () => forks.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
  await until('only one lives', () => living().length === 1 && living()[0] === forked(1))
  assert.ok(!said.join().includes('is killed'))
})

test('stopped between two starts, it starts none', async (t) => {
  const { supervisor, ended, forks, until, said } = supervise(t, ['mortal'], { minBackoff: 60_000, maxBackoff: 60_000 })
  await until('a long pause', () => said.some((line) => line.includes('in 60 s')))
  await supervisor.stop(1000)
  assert.equal(await ended, 0)
  assert.equal(forks.length, 2)
})

test('one that does not stop is killed at the limit, and the exit code says so', async (t) => {
  const { supervisor, ended, hasSaid } = supervise(t, ['never stops'])
  await hasSaid('announced')
  await supervisor.stop(100)
  assert.equal(await ended, 1)
})

test('10,000 people and places go from process to process without either being held up for long', async (t) => {
  // The goal is 20 ms. A machine with other work delays an idle process, too.
  const turns: number[] = []
  const isShort = async (turn: number) => turn < 40 + 5 * (await maxDelay())
  while (turns.length < 5) {
    turns.push(await maxTurn(t))
    if (await isShort(turns.at(-1) ?? Infinity)) return t.diagnostic(`longest turns: ${turns.join(', ')} ms`)
  }
  assert.fail(`one of both was held up for ${turns.join(', ')} ms`)
})

/** How long the sender or the receiver of 10,000 places was held up at most, in ms. */
async function maxTurn(t: TestContext): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const { hasSaid, read, gateway } = supervise(t, ['knows many'])
  await hasSaid('announced')
  delay.disable()
  assert.equal(gateway.known?.routes.length, 10_000)
  const sender = Number(/longest turn (\d+) ms/.exec(read())?.[1])
  return Math.max(sender, Math.round(delay.max / 1e6))
}

/** How long a process that has nothing to do is held up by others, in ms. */
async function maxDelay(): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await sleep(500)
  delay.disable()
  return Math.round(delay.max / 1e6)
}
