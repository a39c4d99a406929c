import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { clock } from '@berth/gateway/basics/clock.ts'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { rawClient } from '#test/support/gateway/raw-client.ts'
import { httpApp } from '#test/support/gateway/test-apps.ts'

/** How often the clock of the gateway changes, and in how many seconds: 0.6 on a machine that has nothing else to do. */
async function clockReadings(): Promise<{ count: number; seconds: number }> {
  const [seen, begun] = [new Set<number>(), performance.now()]
  for (let look = 0; look < 120; look++) {
    seen.add(clock.now)
    await sleep(5)
  }
  return { count: seen.size, seconds: (performance.now() - begun) / 1_000 }
}

// Twenty wake-ups a second for a clock that nothing asked were half of the CPU time of an idle Berth.
test('a gateway without clients reads its clock at its sweeps alone, and with one as often as before', async (t) => {
  const { port } = await startGatewayHarness(
    t,
    httpApp((_request, response) => void response.end('ok')),
  )
  await sleep(1_100)
  const idle = await clockReadings()
  // It sweeps twice a second.
  assert.ok(idle.count <= 3 + 2 * idle.seconds, `it wakes up for nothing: ${JSON.stringify(idle)}`)
  await rawClient(t, port)
  assert.ok((await clockReadings()).count >= 5, 'the clock stands still while a client is connected')
})
