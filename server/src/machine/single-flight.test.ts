import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { SingleFlight } from './single-flight.ts'

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
