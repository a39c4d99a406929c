import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { EngineHealth } from './engine-health.ts'

type Ping = PromiseWithResolvers<void>

/** A health check whose pings the test answers, and what it has told so far. */
function scene() {
  const pings: Ping[] = []
  const told: string[] = []
  const ping = (): Promise<void> => {
    const sent = Promise.withResolvers<void>()
    pings.push(sent)
    return sent.promise
  }
  const health = new EngineHealth({ ping } as unknown as Runtime, {
    onUnreachable: () => void told.push('unreachable'),
    onRecovered: () => void told.push('recovered'),
  })
  return { health, pings, told }
}

const unreachable = () => new RuntimeError('unreachable', 'ping')

// With a connection that hung for 3 s, all pages were lost a second time right after the engine was back.
test('a ping that fails late does not take down an engine that has answered a newer one', async () => {
  const { health, pings, told } = scene()
  health.markDown(performance.now())
  const ending = new AbortController()
  const monitored = health.monitor(ending.signal)
  // The ping of the monitor hangs; the events, which arrive again, cause another one.
  await sleep(20)
  health.setEventsHeard(true)
  pings[1]?.resolve()
  await sleep(3_050)
  pings[0]?.reject(unreachable())
  await sleep(20)
  assert.deepEqual([told, health.isDown], [['unreachable', 'recovered'], false])
  ending.abort()
  for (const each of pings) each.resolve()
  await monitored
})

test('an engine is down when no ping was answered for three seconds, whichever was sent first', async () => {
  const { health, pings, told } = scene()
  const ending = new AbortController()
  const monitored = health.monitor(ending.signal)
  await sleep(3_050)
  pings[0]?.reject(unreachable())
  await sleep(20)
  assert.deepEqual(told, ['unreachable'])
  ending.abort()
  await monitored
})
