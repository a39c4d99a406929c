// Part of npm run test:more: it takes two minutes; what the answers do is in `idle-probe.test.ts`.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startBerth, testTemplates } from '#test/support/berth.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'
import { nodeImage } from '#test/support/engine/ports-app.ts'
import { observationTime } from '#test/support/observation-time.ts'

/** It writes down when it was asked. */
const asked = `require('http').createServer(({ url }, answer) => {
  if (url === '/state') require('fs').appendFileSync('/home/berth/asked', Date.now() + ' ')
  answer.end('{"jobs": 1}')
}).listen(8080)`

test(
  'an application whose container is used is asked every minute, and not more often',
  { timeout: 400_000 },
  async (t) => {
    const { dev } = JSON.parse(await testTemplates()) as { dev: Record<string, unknown> }
    const probe = { idle_probe: { path: 'state', active: '/jobs' }, idle_timeout: 3_600 }
    const templates = { dev: { ...dev, ...probe, image: nodeImage, command: ['node', '-e', asked] } }
    const berth = await startBerth(t, { env: { CONTAINER_TEMPLATES: JSON.stringify(templates) } })
    const ann = await berth.signUp('ann@x.org')
    const page = setInterval(() => void ann.call('GET', `/${ann.slug}-dev/`).catch(() => undefined), 500)
    await observationTime(135_000)
    clearInterval(page)
    const { containers } = (await ann.call('GET', '/api/user/containers')).body
    const times = (await execInContainer(containers[0].container_id, 'cat /home/berth/asked'))
      .trim()
      .split(' ')
      .map(Number)
    // The second question comes earlier, so that containers that were found at the same time are asked at different ones.
    const pauses = times.slice(1).map((at, before) => (at - (times[before] ?? 0)) / 1_000)
    t.diagnostic(`pauses of ${pauses.map((each) => each.toFixed(1)).join(', ')} s`)
    assert.ok(pauses.length >= 2 && pauses.length <= 4, `${pauses.length + 1} questions`)
    for (const [at, pause] of pauses.entries())
      assert.ok(pause >= (at === 0 ? 25 : 45) && pause <= 75, `${pauses.join()} s`)
  },
)
