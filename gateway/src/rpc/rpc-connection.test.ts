import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { channelPair, type ChannelVices } from '@berth/server/test/support/gateway/channel-pair.ts'
import { CallTimeout, RpcConnection, ConnectionLost } from './rpc-connection.ts'
import { observationTime } from '@berth/server/test/support/observation-time.ts'
import { waitLimit } from '@berth/server/test/support/extent.ts'

interface Far {
  double(n: number): Promise<number>
  note(word: string): void
  fail(): Promise<never>
  never(): Promise<void>
}

function linked(vices: ChannelVices = {}, maxWaiting?: number) {
  const pair = channelPair(vices)
  const notes: string[] = []
  const reports: string[] = []
  const report = (problem: string) => void reports.push(problem)
  const far: Far = {
    double: (n) => Promise.resolve(2 * n),
    note: (word) => {
      if (word === 'break') throw new Error('it broke')
      notes.push(word)
    },
    fail: () => Promise.reject(new Error('port 80 is taken')),
    never: () => new Promise<void>(() => {}),
  }
  const near = new RpcConnection<Far>(pair.near, {}, maxWaiting === undefined ? { report } : { report, maxWaiting })
  const farLink = new RpcConnection<Far>(pair.far, far, { report })
  return { ...pair, near, farLink, notes, reports }
}

test('a call is answered with what the other side returned, or rejected with the message of what it threw', async () => {
  const { near } = linked()
  assert.equal(await near.call('double', [21], 1000), 42)
  await assert.rejects(near.call('fail', [], 1000), { message: 'port 80 is taken' })
})

test('a thousand calls at once over a slow pipe are each answered with their own answer, in order of the calls', async () => {
  const { near } = linked({ slow: 0.01 })
  const order: number[] = []
  const ask = async (n: number) => {
    assert.equal(await near.call('double', [n], 20_000), 2 * n)
    order.push(n)
  }
  const all = Array.from({ length: 1000 }, (_, n) => n)
  await Promise.all(all.map(ask))
  assert.deepEqual(order, all)
})

test('a notification before a call counts before it', async () => {
  const { near, notes } = linked({ slow: 1 })
  for (const word of ['one', 'two', 'three']) near.notify('note', [word])
  await near.call('double', [1], 1000)
  assert.deepEqual(notes, ['one', 'two', 'three'])
})

// A node that reported much kept 600 bytes for each message that filled the pipe, for as long as it was connected.
test('messages that fill the pipe leave nothing behind', async (t) => {
  const lost = new Promise<void>(() => {})
  const { mock } = t.mock.method(lost, 'then')
  const sent: object[] = []
  const send = (message: object) =>
    new Promise<void>((resolve) => setImmediate(resolve)).then(() => void sent.push(message))
  const near = new RpcConnection<Far>({ lost, onMessage: () => undefined, send }, {}, { report: () => undefined })
  for (let each = 0; each < 100; each++) near.notify('note', ['word'])
  while (sent.length < 100) await sleep(1)
  assert.equal(mock.callCount(), 1)
})

test('while the pipe is full nothing more is put into it', async () => {
  const { near, sent } = linked({ slow: 20 })
  for (let n = 0; n < 100; n++) near.notify('note', ['x'])
  await observationTime(5)
  assert.equal(sent.length, 1)
})

test('a question that is lost on the way, or its answer, rejects at the limit of its call, and the next is answered', async () => {
  for (const lost of ['call', 'value']) {
    let isLossy = true
    const { near } = linked({ loses: (message) => isLossy && lost in message })
    await assert.rejects(near.call('double', [1], 20), CallTimeout)
    isLossy = false
    assert.equal(await near.call('double', [2], 1000), 4)
  }
})

test('an answer after the timeout is dropped, and is no failure', async () => {
  const { near, reports } = linked({ slow: 30 })
  await assert.rejects(near.call('double', [1], 10), CallTimeout)
  await observationTime(80)
  assert.deepEqual(reports, [])
})

test('when the other process goes, every call that waits rejects at once, and so does every later one', async () => {
  const { near, cut } = linked()
  const waiting = near.call('never', [], 60_000)
  cut()
  await assert.rejects(waiting, ConnectionLost)
  await near.lost
  await assert.rejects(near.call('double', [1], 60_000), ConnectionLost)
  assert.equal(near.notify('note', ['x']), false)
})

test('a process that goes while the pipe to it is full leaves nothing waiting', async () => {
  const { near, cut } = linked({ slow: 50 })
  const all = Array.from({ length: 100 }, () => near.call('double', [1], 60_000))
  cut()
  const outcomes = await Promise.allSettled(all)
  assert.ok(outcomes.every(({ status }) => status === 'rejected'))
})

test('no more waits for the other process than is allowed: calls are refused, words are dropped', async () => {
  const { near } = linked({ slow: 50 }, 10)
  const asked = Array.from({ length: 10 }, () => near.call('never', [], 50))
  await assert.rejects(near.call('double', [1], 50), /too much waits/)
  assert.equal(near.notify('note', ['x']), false)
  await Promise.allSettled(asked)
})

// Reports of failing apps filled the queue to an API process that hung, and the health check was refused instead of unanswered.
test('a health check is asked however much waits, and is answered, or not, as every other', async () => {
  const { near, cut } = linked({}, 1)
  const waiting = near.call('never', [], 60_000).catch(() => undefined)
  assert.equal(await near.callBeyondLimit('double', [21], 1000), 42)
  await assert.rejects(near.callBeyondLimit('never', [], 20), CallTimeout)
  cut()
  await waiting
})

test('malformed messages are reported without what they carry, and change nothing', async () => {
  const { near, reports, sendFromFar } = linked()
  for (const message of [null, 7, 'x', [], {}, { token: 'secret' }, { call: 'note' }, { call: 'nobody', args: [] }])
    sendFromFar(message)
  for (const end = performance.now() + waitLimit(10_000); reports.length < 8 && performance.now() < end;) await sleep(1)
  assert.equal(reports.length, 8)
  assert.ok(!reports.join().includes('secret'))
  assert.equal(await near.call('double', [1], 1000), 2)
})

test("names of the language's own are no calls", async () => {
  const { near, reports } = linked()
  await assert.rejects((near as RpcConnection<{ toString(): string }>).call('toString', [], 1000), /not known here/)
  await assert.rejects((near as RpcConnection<{ valueOf(): object }>).call('valueOf', [], 1000), /not known here/)
  assert.deepEqual(reports, [])
})

test('a failure of a call without a waiting caller is reported, and the next is acted on', async () => {
  const { near, notes, reports } = linked()
  near.notify('note', ['break'])
  near.notify('note', ['after'])
  await near.call('double', [1], 1000)
  assert.deepEqual(reports, ['note failed: it broke'])
  assert.deepEqual(notes, ['after'])
})
