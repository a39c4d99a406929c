import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { settingGroups } from '#/config/setting-descriptions.ts'

/** deploy/compose without an engine: what its services hold, and that its settings exist. */

const folder = path.resolve(import.meta.dirname, '../../deploy/compose')
const read = (name: string) => readFileSync(path.join(folder, name), 'utf8')

interface Service {
  readonly image: string
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes: readonly string[]
  readonly cap_drop?: readonly string[]
}

const { services } = parse(read('compose.yaml'), { merge: true }) as { services: Record<string, Service> }
const settings = new Set(Object.values(settingGroups).flatMap((group) => Object.keys(group)))
const ownNames = ['BERTH_IMAGE', 'BERTH_PORT', 'BERTH_LINK_DIR', 'DOCKER_GID', 'CADDY_IMAGE', 'HTTP_PORT', 'HTTPS_PORT']

test('the API alone holds the socket of the engine and the data; the gateway holds neither', () => {
  const holders = (what: string) =>
    Object.keys(services).filter((name) => services[name]?.volumes.some((volume) => volume.includes(what)))
  assert.deepEqual(holders('docker.sock'), ['api'])
  assert.deepEqual(holders('/var/lib/berth'), ['api'])
  assert.deepEqual(holders('/run/berth').sort(), ['api', 'gateway'])
  assert.equal(services.api?.image, services.gateway?.image)
  for (const name of ['api', 'gateway']) assert.deepEqual(services[name]?.cap_drop, ['ALL'])
})

test('every setting of the composition and of its example exists', () => {
  const inExample = [...read('env.example').matchAll(/^#?([A-Z_]+)=/gm)].map(([, name = '']) => name)
  const inServices = ['api', 'gateway'].flatMap((name) => Object.keys(services[name]?.environment ?? {}))
  const used = [...read('compose.yaml').matchAll(/\$\{([A-Z_]+)/g)].map(([, name = '']) => name)
  assert.ok(inExample.length > 5)
  const unknown = [...inExample, ...inServices, ...used].filter(
    (name) => !settings.has(name) && !ownNames.includes(name),
  )
  assert.deepEqual(unknown, [])
})
