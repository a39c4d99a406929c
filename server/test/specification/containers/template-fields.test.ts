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

test('what is asked of a container waits until its app answers its ready_path', async (t) => {
  // Its port is open from the first moment on.
  const script = `mkdir -p /tmp/w/cgi-bin
printf '#!/bin/sh\\n[ -e /tmp/up ] && printf "Status: 200 OK\\\\r\\\\n\\\\r\\\\nup" || printf "Status: 503 x\\\\r\\\\n\\\\r\\\\nnot yet"\\n' > /tmp/w/cgi-bin/ready
chmod +x /tmp/w/cgi-bin/ready
(sleep 3; touch /tmp/up) &`
  const dev = template({ ready_path: 'cgi-bin/ready', command: serve(script) })
  const berth = await startBerth(t, { env: envOf({ dev }) })
  const ann = await berth.signUp('ann@x.org')
  const answer = await ann.call('GET', `/${ann.slug}-dev/cgi-bin/ready`)
  assert.deepEqual([answer.status, answer.text], [200, 'up'])
})
