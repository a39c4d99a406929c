import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { clock } from '#/gateway/coarse-clock.ts'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { rawClient } from '#test/support/gateway/raw-client.ts'
import { httpApp } from '#test/support/gateway/test-apps.ts'

/** How often the clock of the gateway changes within 600 ms. */
async function clockReadings(): Promise<number> {
  const seen = new Set<number>()
  for (let look = 0; look < 120; look++) {
    seen.add(clock.now)
    await sleep(5)
  }
  return seen.size
}

// Twenty wake-ups a second for a clock that nothing asked were half of the CPU time of an idle Berth.
test('a gateway without clients reads its clock at its sweeps alone, and with one as often as before', async (t) => {
  const { port } = await startGatewayHarness(
    t,
    httpApp((_request, response) => void response.end('ok')),
  )
  await sleep(1_100)
  assert.ok((await clockReadings()) <= 4, 'it wakes up for nothing')
  await rawClient(t, port)
  assert.ok((await clockReadings()) >= 5, 'the clock stands still while a client is connected')
})
