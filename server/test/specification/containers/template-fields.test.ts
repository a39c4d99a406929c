import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertOk } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { testImage } from '../../support/engine/engine.ts'

/** What fields of a template do to real containers. */

const image = await testImage()
const template = (fields: object) => ({ image, memory: '64m', ...fields })
const envOf = (templates: Record<string, object>) => ({ CONTAINER_TEMPLATES: JSON.stringify(templates) })
const serve = (script: string) => ['/bin/sh', '-c', `mkdir -p /tmp/w; ${script}\nexec httpd -f -p 8080 -h /tmp/w`]
test('Open leads where the template says, and entries of other types have no such field', async (t) => {
  const vnc = template({
    open_path: '/vnc.html?autoconnect=1',
    shm_size: '32m',
    command: serve('df -k /dev/shm > /tmp/w/shm'),
  })
  const berth = await startBerth(t, { env: envOf({ vnc, dev: template({}) }) })
  const ann = await berth.signUp('ann@x.org')
  const launched = await ann.call('POST', '/api/container/launch/vnc')
  assertOk(launched)
  assert.equal(launched.body.open_path, 'vnc.html?autoconnect=1')
  const { containers } = (await ann.call('GET', '/api/user/containers')).body
  assert.deepEqual(
    containers.map((each: object) => ('open_path' in each ? each.open_path : undefined)),
    ['vnc.html?autoconnect=1', undefined],
  )
  assert.match((await ann.call('GET', `/${ann.slug}-vnc/shm`)).text, / 32768 /)
})
