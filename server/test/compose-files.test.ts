import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { readAllowances } from '#/engines/broker/create-check.ts'
import { settings as rows } from '#/config/settings.ts'

/** deploy/compose without an engine: what its services hold, and that its settings exist. */

const folder = path.resolve(import.meta.dirname, '../../deploy/compose')
const read = (name: string) => readFileSync(path.join(folder, name), 'utf8')

interface Service {
  readonly image: string
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly cap_drop?: readonly string[]
  readonly network_mode?: string
  readonly ports?: readonly string[]
}

const servicesOf = (name: string) =>
  (parse(read(name), { merge: true }) as { services: Record<string, Partial<Service>> }).services

const services = servicesOf('compose.yaml')
const overrides = ['compose.nginx.yaml', 'compose.postgres.yaml', 'compose.trial.yaml']
const settings = new Set(rows.keys())
/** Variables of the composition that are no settings of Berth. */
const ownNames = [
  'BERTH_IMAGE',
  'CADDY_IMAGE',
  'NGINX_IMAGE',
  'POSTGRES_IMAGE',
  'MAIL_IMAGE',
  'COMPOSE_FILE',
  'DOCKER_GID',
  'BERTH_PORT',
  'HTTP_PORT',
  'HTTPS_PORT',
  'MAIL_SMTP_PORT',
  'MAIL_PAGE_PORT',
  'BERTH_LINK_DIR',
  'BROKER_ALLOW',
]
/** Secrets may come from files. */
const isSetting = (name: string) => settings.has(name) || settings.has(name.replace(/_FILE$/, ''))

test('the broker alone holds the socket of the engine, the API alone the data; the gateway holds neither', () => {
  const holders = (what: string) =>
    Object.keys(services).filter((name) => services[name]?.volumes?.some((volume) => volume.startsWith(what)))
  assert.deepEqual(holders('/var/run/docker.sock'), ['engine-broker'])
  assert.deepEqual(holders('data:'), ['api'])
  assert.deepEqual(holders('engine:').sort(), ['api', 'engine-broker'])
  assert.deepEqual(holders('run:').sort(), ['api', 'gateway'])
  assert.equal(services['engine-broker']?.network_mode, 'none')
  for (const name of ['api', 'gateway', 'engine-broker']) {
    assert.equal(services[name]?.image, services.api?.image)
    assert.deepEqual(services[name]?.cap_drop, ['ALL'])
  }
})

test('no variant gives the socket of the engine to another service', () => {
  for (const name of overrides) assert.doesNotMatch(read(name), /docker\.sock/, name)
})

test('every setting of the composition, its variants and its example exists', () => {
  const inExample = [...read('env.example').matchAll(/^#?([A-Z_]+)=/gm)].map(([, name = '']) => name)
  const all = ['compose.yaml', ...overrides]
  const inServices = all.flatMap((file) =>
    ['api', 'gateway'].flatMap((name) => Object.keys(servicesOf(file)[name]?.environment ?? {})),
  )
  const used = all.flatMap((file) => [...read(file).matchAll(/\$\{([A-Z_]+)/g)].map(([, name = '']) => name))
  assert.ok(inExample.length > 5 && inServices.includes('DATABASE_URL_FILE') && used.includes('NGINX_IMAGE'))
  assert.deepEqual(
    [...inExample, ...inServices, ...used].filter((name) => !isSetting(name) && !ownNames.includes(name)),
    [],
  )
})

test('the example of BROKER_ALLOW is one, and names a writable folder below the roots of mounts', () => {
  const valueOf = (name: string) => new RegExp(`^#${name}=(.*)$`, 'm').exec(read('env.example'))?.[1] ?? ''
  const [folder = ''] = readAllowances(valueOf('BROKER_ALLOW')).writable
  assert.ok(valueOf('ALLOWED_MOUNT_ROOTS').split(',').includes(folder), folder)
})

test('the API trusts the address from which either proxy connects: both use the network of the host', () => {
  assert.equal(services.api?.environment?.TRUSTED_PROXIES, '127.0.0.1,::1')
  assert.equal(services.caddy?.network_mode, 'host')
  assert.equal(servicesOf('compose.nginx.yaml').nginx?.network_mode, 'host')
})

test('no other machine and no container reaches PostgreSQL or the mail catcher', () => {
  const { postgres } = servicesOf('compose.postgres.yaml')
  assert.equal(postgres?.network_mode, 'none')
  assert.equal(postgres?.ports, undefined)
  const { ports = [] } = servicesOf('compose.trial.yaml').mail ?? {}
  assert.equal(ports.length, 2)
  for (const port of ports) assert.match(port, /^127\.0\.0\.1:/)
})

test('nginx is configured as docs/how-to/use-a-reverse-proxy.md says', () => {
  const page = readFileSync(path.resolve(folder, '../../docs/how-to/use-a-reverse-proxy.md'), 'utf8')
  const printed = /```nginx\n([^`]+?)```/.exec(page)?.[1]?.replace(/^ {3}/gm, '').trim() ?? ''
  const expected = Object.entries({
    'listen 443': 'listen ${HTTPS_PORT}',
    'berth.example.org': '${SITE}',
    '/etc/ssl/berth.pem': '/etc/nginx/tls/berth.pem',
    '/etc/ssl/berth.key': '/etc/nginx/tls/berth.key',
    '127.0.0.1:8080': '${UPSTREAM}',
  }).reduce((config, [from, to]) => config.replaceAll(from, to), printed)
  assert.match(expected, /proxy_pass/)
  assert.ok(read('nginx.conf.template').includes(expected), expected)
})

test('the restore of the page stops the API alone, and gives the backup to a container of the API', () => {
  const page = readFileSync(path.resolve(folder, '../../docs/how-to/back-up-and-restore.md'), 'utf8')
  const commands = [...page.matchAll(/^docker compose (.*)$/gm)].map(([, command = '']) => command.split(' '))
  assert.deepEqual(
    commands.map(([verb]) => verb),
    ['stop', 'up', 'run', 'up'],
  )
  const [stop, up, run] = commands.map((words) => words.filter((word) => word in services))
  assert.deepEqual({ stop, up, run }, { stop: ['api'], up: ['engine-broker'], run: ['api'] })
})
