import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { observationTime } from '#test/support/observation-time.ts'
import { Coalescer, SingleFlight, cachedFor } from './single-flight.ts'

const outcome = async () => {
  await sleep(20)
  return Symbol('outcome')
}

test('a request for a task in progress gets its outcome and starts no other', async () => {
  const flights = new SingleFlight()
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => flights.run('ann dev', 'launch', outcome)))
  assert.equal(new Set(outcomes).size, 1)
  assert.notEqual(await flights.run('ann dev', 'launch', outcome), outcomes[0])
})

test('different containers do not wait for each other', async () => {
  const flights = new SingleFlight()
  const never = flights.run('ann dev', 'launch', () => new Promise<symbol>(() => {}))
  assert.ok(await flights.run('bob dev', 'launch', outcome))
  assert.ok(never)
})

test('a launch asked for after a stop comes after it, although another launch is still under way', async () => {
  const flights = new SingleFlight()
  const done: string[] = []
  const step = (name: string) => async () => {
    await sleep(10)
    done.push(name)
  }
  const verbs = ['launch', 'stop', 'launch'].map((verb, index) =>
    flights.run('ann dev', verb, step(`${verb} ${index}`)),
  )
  await Promise.all(verbs)
  assert.deepEqual(done, ['launch 0', 'stop 1', 'launch 2'])
})

test('a flight that failed does not stand in the way of the next', async () => {
  const flights = new SingleFlight()
  const failed = flights.run('ann dev', 'launch', () => Promise.reject(new Error('no engine')))
  const next = flights.run('ann dev', 'stop', outcome)
  await assert.rejects(failed, /no engine/)
  assert.ok(await next)
})

test('a flight learns that another one waits for its end, also one of the same verb', async () => {
  const flights = new SingleFlight()
  const waited: boolean[] = []
  const later: Promise<symbol>[] = []
  await flights.run('ann dev', 'look', async (_, isAwaited) => {
    waited.push(isAwaited())
    later.push(flights.run('ann dev', 'stop', outcome), flights.run('ann dev', 'look', outcome))
    waited.push(isAwaited())
  })
  await Promise.all(later)
  assert.deepEqual(waited, [false, true])
})

test('a request during a look-up gets one that began after it, and a hundred requests share one', async () => {
  let [began, ended] = [0, 0]
  const gate = Promise.withResolvers<void>()
  const looks = new Coalescer(async () => {
    began++
    await gate.promise
    ended++
  })
  const first = looks.run('c1')
  const others = Array.from({ length: 100 }, () => looks.run('c1'))
  await observationTime(10)
  assert.equal(began, 1)
  gate.resolve()
  await first
  await others[50]
  assert.equal(ended, 2)
  await Promise.all(others)
  assert.equal(began, 2)
})

test('a look-up that fails rejects the requests that wait for it, and none after them', async () => {
  const answers = [Promise.reject(new Error('first')), Promise.reject(new Error('second')), Promise.resolve()]
  for (const answer of answers) answer.catch(() => undefined)
  const looks = new Coalescer(() => sleep(5).then(() => answers.shift()))
  const [first, second] = [looks.run('c1'), looks.run('c1')]
  await assert.rejects(first, /first/)
  await assert.rejects(second, /second/)
  await looks.run('c1')
})

test('different containers do not wait for each other', async () => {
  const looks = new Coalescer((id) => (id === 'hung' ? new Promise(() => {}) : Promise.resolve()))
  void looks.run('hung')
  await looks.run('c1')
  await looks.settled('c1')
})

test('who waits for the next look is served by one that begins anew', async () => {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let began = 0
  const looks: Coalescer<number> = new Coalescer(async (id) => {
    const number = ++began
    await first.promise
    if (number > 1) return number
    looks.renew(id)
    await second.promise
    return number
  })
  const [running, waiting] = [looks.run('c1'), looks.run('c1')]
  first.resolve()
  await sleep(5)
  // Who asks after it began anew gets another one.
  const late = looks.run('c1')
  second.resolve()
  assert.deepEqual(await Promise.all([running, waiting, late]), [1, 1, 2])
  assert.equal(began, 2)
})

test('who joins shares what is under way, and begins a look when nothing is', async () => {
  let began = 0
  const looks = new Coalescer(async () => {
    began++
    await sleep(5)
  })
  await Promise.all([looks.join('c1'), looks.join('c1')])
  assert.equal(began, 1)
  await looks.join('c1')
  assert.equal(began, 2)
})

test('callers at the same time share one run, and its result is kept for its lifetime and no longer', async () => {
  let [runs, time] = [0, 0]
  const pending: PromiseWithResolvers<number>[] = []
  const get = cachedFor(
    1_000,
    () => {
      runs++
      const run = Promise.withResolvers<number>()
      pending.push(run)
      return run.promise
    },
    () => time,
  )
  const both = [get(), get()]
  time = 5_000
  both.push(get())
  pending[0]?.resolve(7)
  assert.deepEqual([await Promise.all(both), runs], [[7, 7, 7], 1])
  time = 5_999
  assert.deepEqual([await get(), runs], [7, 1])
  time = 6_001
  const next = get()
  pending[1]?.reject(new Error('away'))
  await assert.rejects(next, /away/)
  await assert.rejects(get(), /away/)
  assert.equal(runs, 2)
})
