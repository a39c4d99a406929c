import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { pollUntil } from '../../support/control-plane.ts'
import { get } from '../../support/gateway/raw-client.ts'
import { testImage } from '../../support/engine/engine.ts'

/** Parameters of templates, with real containers. */

const image = await testImage()
const script = `mkdir -p /tmp/w; env > /tmp/w/env; echo x >> /home/berth/starts; cp /home/berth/starts /tmp/w/starts
exec httpd -f -p 8080 -h /tmp/w`
const dev = {
  image,
  memory: '64m',
  command: ['/bin/sh', '-c', script],
  parameters: {
    size: { label: 'Size', type: 'choice', choices: ['small', 'large'], default: 'small', env: 'SIZE' },
    workers: { type: 'number', min: 1, max: 8, default: 2, env: 'WORKERS' },
    debug: { label: 'Debug', type: 'boolean', default: false, env: 'DEBUG' },
    branch: { type: 'text', max: 10, env: 'BRANCH' },
  },
}
const CONTAINER_TEMPLATES = JSON.stringify({ dev, plain: { image, memory: '64m' } })
const berth = await startBerth({ after }, { env: { CONTAINER_TEMPLATES } })

test('chosen parameters reach the container, and count for each later start until others are chosen', async () => {
  const ann = await berth.signUp('ann@x.org')
  const launch = async (body?: object) => {
    const answer = await ann.call('POST', '/api/container/launch/dev', body && { body })
    assertOk(answer)
    return answer.body.container_id as string
  }
  const read = async (file: string) => (await ann.call('GET', `/${ann.slug}-dev/${file}`)).text
  /** Opens a page, which starts the container also after a stop by request. */
  const headers = { authorization: `Bearer ${ann.token}`, accept: 'text/html' }
  const visit = () =>
    pollUntil(
      async () => (await get(berth.app.port, `/${ann.slug}-dev/env`, { headers })).status === 200,
      () => 'no app',
    )
  const env = async () => {
    const lines = new Map((await read('env')).split('\n').map((line) => line.split('=', 2) as [string, string]))
    return ['SIZE', 'WORKERS', 'DEBUG', 'BRANCH'].map((name) => lines.get(name))
  }
  const first = await launch()
  assert.deepEqual(await env(), ['small', '2', 'false', ''], 'the defaults')
  assert.equal(await launch({ parameters: { size: 'small' } }), first, 'the same values keep the container')
  assert.equal(await launch({}), first)

  const second = await launch({ parameters: { size: 'large', debug: true, branch: 'a=b "c"' } })
  assert.notEqual(second, first)
  assert.deepEqual(await env(), ['large', '2', 'true', 'a'])
  assert.equal(await read('starts'), 'x\nx\n', 'the home stays')
  assert.equal(await launch(), second, 'a launch that chooses nothing keeps what was chosen')

  await ann.call('POST', '/api/container/stop/dev')
  await visit()
  assert.deepEqual(await env(), ['large', '2', 'true', 'a'], 'woken with what was chosen')
  assert.equal(await launch(), second, 'waking has used the same container')
  assertOk(await ann.call('POST', '/api/container/restart/dev'))
  assert.deepEqual(await env(), ['large', '2', 'true', 'a'], 'restarted with what was chosen')

  await ann.call('POST', '/api/container/stop/dev')
  await launch({ parameters: { workers: 8 } })
  assert.deepEqual(await env(), ['large', '8', 'true', 'a'], 'what is not named stays as it was')
  const { containers } = (await ann.call('GET', '/api/user/containers')).body
  assert.deepEqual(containers[0].parameters, {
    size: { label: 'Size', type: 'choice', choices: ['small', 'large'], default: 'small', value: 'large' },
    workers: { label: 'workers', type: 'number', min: 1, max: 8, default: 2, value: 8 },
    debug: { label: 'Debug', type: 'boolean', default: false, value: true },
    branch: { label: 'branch', type: 'text', max: 10, default: '', value: 'a=b "c"' },
  })
  assert.ok(!('parameters' in containers[1]), 'a type without parameters has no such field')
})

test('a launch with parameters that are not allowed is refused and changes nothing', async () => {
  const ben = await berth.signUpWithoutContainer('ben@x.org')
  const before = (await ben.call('GET', '/api/user/containers')).body
  const refused = async (parameters: unknown, words: RegExp, type = 'dev') => {
    const answer = await ben.call('POST', `/api/container/launch/${type}`, { body: { parameters } })
    assert.equal(answer.status, 400, JSON.stringify(parameters))
    assert.match(answer.body.error, words)
  }
  await refused({ size: 'huge' }, /size must be one of these: small, large/)
  await refused({ size: 1 }, /size must be one of these/)
  await refused({ workers: 9 }, /workers must be at most 8/)
  await refused({ workers: 0 }, /workers must be at least 1/)
  await refused({ workers: '2' }, /workers must be a number/)
  await refused({ debug: 'true' }, /debug must be true or false/)
  await refused({ branch: 'x'.repeat(11) }, /branch must have at most 10 characters/)
  await refused({ branch: 'a\0b' }, /branch must be text without null characters/)
  await refused({ constructor: 'x' }, /no parameter constructor\. Known parameters: size, workers, debug, branch/)
  await refused({ size: null }, /parameters\.size/)
  await refused('small', /parameters/)
  await refused({ size: 'small' }, /no parameters to choose/, 'plain')
  assert.deepEqual((await ben.call('GET', '/api/user/containers')).body, before)
})

test('two launches at once with different parameters leave a container with what is kept', async () => {
  const cat = await berth.signUp('cat@x.org')
  const answers = await Promise.all(
    [3, 4, 4].map((workers) => cat.call('POST', '/api/container/launch/dev', { body: { parameters: { workers } } })),
  )
  for (const answer of answers) assertOk(answer)
  const { containers } = (await cat.call('GET', '/api/user/containers')).body
  const running = (await cat.call('GET', `/${cat.slug}-dev/env`)).text
  assert.match(running, new RegExp(`^WORKERS=${containers[0].parameters.workers.value}$`, 'm'))
  assert.ok([3, 4].includes(containers[0].parameters.workers.value))
})
