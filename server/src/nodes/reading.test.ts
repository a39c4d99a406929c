import assert from 'node:assert/strict'
import { test } from 'node:test'
import { momentNow } from '@berth/gateway/basics/clock.ts'
import type { ControlPlane, GatewaySettings, SessionUse } from '@berth/gateway/port/gateway.ts'
import { Reading, type Reader } from './reading.ts'

const terms = { program: 'this one', restartsAsked: ['c1'] }
const settingsWith = (reading: object | undefined, maxStateAge = 10_000) =>
  ({ maxStateAge, sessionUseInterval: 60_000, reading }) as unknown as GatewaySettings

/** A reader that the leader controls. */
function scene({ refresh = async () => undefined }: { refresh?: () => Promise<void> } = {}) {
  const used: SessionUse[] = []
  const leader = { confirms: true }
  const control = {
    confirmState: async () => {
      if (!leader.confirms) throw new Error('this node does not lead this gateway')
    },
    reportSessionUses: (uses: readonly SessionUse[]) => void used.push(...uses),
  } as unknown as ControlPlane
  const opened: Reader[] = []
  const reading = new Reading({
    program: () => 'this one',
    socket: '/run/reader.sock',
    open: async () => {
      const reader = { paths: ['/api/user/me'], refresh, close: async () => undefined }
      opened.push(reader)
      return reader
    },
    report: () => undefined,
  })
  return { reading, control, leader, used, opened, confirm: () => reading.watch(control).confirmState() }
}

test('a follower answers when the leader has confirmed its state, and for as long as that counts', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 })
  const { reading, control, confirm, leader } = scene()
  assert.equal(reading.mayAnswer, false)
  const told = await reading.serve(settingsWith(terms), control)
  assert.deepEqual(told, { socket: '/run/reader.sock', paths: ['/api/user/me'] })
  assert.equal(reading.mayAnswer, false, 'nothing is confirmed yet')
  await confirm()
  assert.equal(reading.mayAnswer, true)
  leader.confirms = false
  t.mock.timers.setTime(1_009_900)
  await assert.rejects(confirm())
  assert.equal(reading.mayAnswer, true)
  t.mock.timers.setTime(1_010_001)
  assert.equal(reading.mayAnswer, false, 'a leader waits no longer for a node that it does not reach')
})

// A partition after a failover: the leader wrote to the standby that was promoted, and a follower read from the primary
// of before.
test('a follower in whose database the lease ends while the leader goes on to confirm reads from another server, and passes all on', async () => {
  const { reading, control, confirm } = scene()
  await reading.serve(settingsWith(terms), control)
  reading.noteLease(true, 5_000, momentNow())
  await confirm()
  assert.equal(reading.mayAnswer, true)
  reading.noteLease(false, 0, momentNow())
  assert.equal(reading.mayAnswer, true, 'as after the end of the leader, for which reads do not wait')
  await confirm()
  assert.equal(reading.mayAnswer, false)
  reading.noteLease(false, 0, momentNow())
  await confirm()
  assert.equal(reading.mayAnswer, false, 'a later reading of the same lease changes nothing')
  reading.noteLease(true, 5_000, momentNow())
  assert.equal(reading.mayAnswer, true, 'its address leads to the new primary by now')
})

// The primary of before confirms no write without its standby, so that each check of the lease took two seconds and
// failed.
test('a lease that was not read again ends by itself', async () => {
  const { reading, control, confirm } = scene()
  await reading.serve(settingsWith(terms), control)
  reading.noteLease(true, 0, momentNow())
  await confirm()
  assert.equal(reading.mayAnswer, false, 'the leader goes on to confirm after its end')
})

// The leader lost its lease in the failover and took another one, in the database that this follower did not reach.
test('a follower in whose database no node takes the lease that is over passes all on after two seconds', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 })
  const { reading, control, confirm, leader } = scene()
  await reading.serve(settingsWith(terms), control)
  reading.noteLease(true, 5_000, momentNow())
  await confirm()
  leader.confirms = false
  t.mock.timers.setTime(1_006_900)
  assert.equal(reading.mayAnswer, true, 'while another node may take it')
  t.mock.timers.setTime(1_007_100)
  assert.equal(reading.mayAnswer, false)
  reading.noteLease(false, -2_100, momentNow())
  assert.equal(reading.mayAnswer, false)
})

test('two seconds count from the check that finds a lease given up', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 })
  const { reading, control, confirm } = scene()
  await reading.serve(settingsWith(terms), control)
  reading.noteLease(true, 5_000, momentNow())
  await confirm()
  t.mock.timers.setTime(1_001_000)
  reading.noteLease(false, 4_000, momentNow())
  t.mock.timers.setTime(1_002_900)
  reading.noteLease(false, 2_100, momentNow())
  assert.equal(reading.mayAnswer, true)
  t.mock.timers.setTime(1_003_100)
  assert.equal(reading.mayAnswer, false)
})

test('the time runs from the question, not from the answer', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 })
  const { reading, control } = scene()
  await reading.serve(settingsWith(terms), control)
  const answer = Promise.withResolvers<void>()
  const asking = reading.watch({ ...control, confirmState: () => answer.promise }).confirmState()
  t.mock.timers.setTime(1_008_000)
  answer.resolve()
  await asking
  assert.equal(reading.mayAnswer, true)
  t.mock.timers.setTime(1_010_001)
  assert.equal(reading.mayAnswer, false)
})

test('a leader with another program, with other settings or without reading is asked for all', async () => {
  const { reading, control, confirm, opened } = scene()
  for (const other of [undefined, { ...terms, program: 'another one' }]) {
    assert.equal(await reading.serve(settingsWith(other), control), undefined)
    await confirm()
    assert.equal(reading.mayAnswer, false)
  }
  assert.equal(opened.length, 0, 'nothing was started for it')
})

test('while the store is read anew, and when it cannot be read, the leader answers', async () => {
  const reads: PromiseWithResolvers<void>[] = []
  const refresh = () => {
    const read = Promise.withResolvers<void>()
    reads.push(read)
    return read.promise
  }
  const { reading, control, confirm } = scene({ refresh })
  const first = reading.serve(settingsWith(terms), control)
  await confirm()
  assert.equal(reading.mayAnswer, false)
  await new Promise(setImmediate)
  reads[0]?.resolve()
  await first
  assert.equal(reading.mayAnswer, true)
  const second = reading.serve(settingsWith(terms), control)
  assert.equal(reading.mayAnswer, false)
  await new Promise(setImmediate)
  reads[1]?.reject(new Error('the database is away'))
  assert.ok(await second, 'the gateway may send requests, which are passed on')
  assert.equal(reading.mayAnswer, false)
})

test('of two changes under way the earlier one, read late, does not make it answer', async () => {
  const reads: PromiseWithResolvers<void>[] = []
  const { reading, control, confirm } = scene({
    refresh: () => {
      const read = Promise.withResolvers<void>()
      reads.push(read)
      return read.promise
    },
  })
  const both = [reading.serve(settingsWith(terms), control), reading.serve(settingsWith(terms), control)]
  await confirm()
  await new Promise(setImmediate)
  reads[0]?.resolve()
  await both[0]
  assert.equal(reading.mayAnswer, false)
  reads[1]?.resolve()
  await both[1]
  assert.equal(reading.mayAnswer, true)
})

test('tokens, sessions and eras are revoked as they are sent', () => {
  const { reading } = scene()
  reading.replace([{ jti: 'a.1', expiresAt: 1 }])
  reading.apply([
    { kind: 'revoked', revocation: { jti: 'b', expiresAt: 2 } },
    { kind: 'user-gone', userId: 1 },
  ])
  assert.deepEqual(
    ['a.1', 'a.2', 'b', 'b.7', 'c.1'].map((jti) => reading.has(jti)),
    [true, false, true, true, false],
  )
  reading.replace([])
  assert.equal(reading.has('a.1'), false)
})

test('a clock that was set is for the leader to judge by, until it says more', async (t) => {
  const { reading, control, confirm } = scene()
  t.mock.timers.enable({ apis: ['Date'], now: 10_000_000 })
  await reading.serve(settingsWith(terms), control)
  t.mock.timers.setTime(10_000_000 - 120_000)
  await confirm()
  assert.equal(reading.mayAnswer, false)
  await reading.serve(settingsWith(terms), control)
  assert.equal(reading.mayAnswer, true)
})

test('a node that leads answers nothing as a follower', async () => {
  const { reading, control, confirm } = scene()
  await reading.serve(settingsWith(terms), control)
  await confirm()
  reading.stop()
  assert.equal(reading.mayAnswer, false)
  assert.equal(await reading.serve(settingsWith(terms), control), undefined)
})

test('uses of a session are reported to the leader, once a minute each', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { reading, control, used } = scene()
  await reading.serve(settingsWith(terms), control)
  for (const at of [0, 1_000, 59_000, 61_000]) reading.noteUse('s1', at)
  reading.noteUse('s2', 5)
  t.mock.timers.tick(1_000)
  assert.deepEqual(used, [
    { sid: 's1', at: 0 },
    { sid: 's1', at: 61_000 },
    { sid: 's2', at: 5 },
  ])
  reading.stop()
})
