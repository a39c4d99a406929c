import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SingleFlight } from '../../concurrency/single-flight.ts'
import { IdleSuspension, type IdleSuspensionParts } from './idle-suspension.ts'

// Eight restarts in the launch queue took all eight slots of the idle monitor, for as long as they waited.
test('a container whose restart is queued is not waited for', async () => {
  const singleFlight = new SingleFlight()
  const parts: Partial<Record<keyof IdleSuspensionParts, object>> = {
    singleFlight,
    routeSync: { get: () => undefined },
  }
  const suspension = new IdleSuspension(parts as unknown as IdleSuspensionParts)
  const [owned, queued] = [{ userId: 1, type: 'dev' }, Promise.withResolvers<void>()]
  const restart = singleFlight.run('1 dev', 'replace', () => queued.promise)
  assert.equal(await suspension.suspend(owned, 'stop', 0), 'used')
  queued.resolve()
  await restart
  assert.equal(await suspension.suspend(owned, 'stop', 0), 'done')
})
