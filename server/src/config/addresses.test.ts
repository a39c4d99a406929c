import assert from 'node:assert/strict'
import { test } from 'node:test'
import { good, read } from '#test/support/read-settings.ts'
import { addressesFor } from './addresses.ts'

test('with CONTAINER_ROUTING=subdomain each container has a host below the spawner host, with its port', () => {
  const origin = (env: Record<string, string>) =>
    addressesFor(good({ CONTAINER_ROUTING: 'subdomain', ...env }), 4711).containerOrigin?.('ann-dev')
  assert.equal(origin({}), 'http://ann-dev.spawner.berth.localhost:4711')
  const own = { BASE_DOMAIN: 'Berth.Example.org', SPAWNER_SUBDOMAIN: '', PREFERRED_URL_SCHEME: 'https' }
  assert.equal(origin(own), 'https://ann-dev.berth.example.org')
  assert.equal(addressesFor(good({}), 4711).containerOrigin, null)
})

const noHosts: readonly [Record<string, string>, RegExp][] = [
  [{ CONTAINER_ROUTING: 'host' }, /^CONTAINER_ROUTING: must be path or subdomain$/],
  [{ BASE_DOMAIN: '10.0.0.7', SPAWNER_SUBDOMAIN: '' }, /BASE_DOMAIN must be a name/],
  [{ BASE_DOMAIN: '[::1]:8080', SPAWNER_SUBDOMAIN: '' }, /BASE_DOMAIN must be a name/],
  [{ BASE_DOMAIN: '10.0.0.7:8080' }, /BASE_DOMAIN must be a name/],
  [{ BASE_DOMAIN: `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.org` }, /too long: at most 189 characters/],
  [
    { FRONTEND_URL: 'http://my-app.spawner.berth.localhost' },
    /^FRONTEND_URL: my-app\.spawner\.berth\.localhost has the form/,
  ],
  ...['Dev', 'd_v', '-dev', 'dev-', 'a.b', 'dév', 'x'.repeat(35)].map((type): [Record<string, string>, RegExp] => [
    { CONTAINER_TEMPLATES: JSON.stringify({ [type]: { image: 'x' } }) },
    /^CONTAINER_ROUTING=subdomain: the container type ".*" cannot stand in a host name: at most 34 lower-case/,
  ]),
  [
    { CONTAINER_TEMPLATES: '{"dev": {"image": "x", "forward_token": "full"}}' },
    /^CONTAINER_ROUTING=subdomain: forward_token: full of the container type "dev"/,
  ],
]
for (const [env, problem] of noHosts)
  test(`subdomain routing is refused with words: ${JSON.stringify(env).slice(0, 90)}`, () => {
    const { problems } = read({ CONTAINER_ROUTING: 'subdomain', ...env })
    assert.equal(problems.length, 1, problems.join('\n'))
    assert.match(problems[0] ?? '', problem)
  })

test('types of 34 letters, digits and hyphens have hosts, and without subdomain routing any type will do', () => {
  const templates = (...types: string[]) =>
    JSON.stringify(Object.fromEntries(types.map((type) => [type, { image: 'x' }])))
  good({ CONTAINER_ROUTING: 'subdomain', CONTAINER_TEMPLATES: templates('x'.repeat(34), '1', 'a-b--c', 'r-4') })
  good({ CONTAINER_TEMPLATES: templates('Dev', 'd v') })
})

test('the front end and the containers share spawner.{base domain}, with the port that was bound', () => {
  assert.deepEqual(addressesFor(good({}), 4711), {
    containerOrigin: null,
    spawnerUrl: 'http://spawner.berth.localhost:4711',
    frontendUrl: 'http://spawner.berth.localhost:4711',
    cookieDomain: 'berth.localhost',
  })
})

test('an empty SPAWNER_SUBDOMAIN means the base domain itself', () => {
  const config = good({ SPAWNER_SUBDOMAIN: '', BASE_DOMAIN: 'berth.example.org', PREFERRED_URL_SCHEME: 'https' })
  assert.equal(addressesFor(config, 1).spawnerUrl, 'https://berth.example.org')
})

test('the base domain is lower-cased, loses its trailing dot and keeps its port, which the cookie drops', () => {
  const addresses = addressesFor(good({ BASE_DOMAIN: 'Berth.Example.ORG:8443' }), 1)
  assert.equal(addresses.spawnerUrl, 'http://spawner.berth.example.org:8443')
  assert.equal(addresses.cookieDomain, 'berth.example.org')
})

test('FRONTEND_URL may be overridden and loses its trailing slash', () => {
  assert.equal(
    addressesFor(good({ FRONTEND_URL: 'https://start.example.org/' }), 1).frontendUrl,
    'https://start.example.org',
  )
})
