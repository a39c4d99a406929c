import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { askEngine } from '#test/support/engine/engine.ts'
import { testSubnet } from '#test/support/engine/outer-network.ts'
import { resultOf, runCommand, startCommand } from '#test/support/command-line.ts'
import { onlyLong } from '#test/support/extent.ts'

/** The program `berth doctor attack` on the machine's own engine. */

const folder = mkdtempSync(path.join(tmpdir(), 'berth-attack-test-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const settings = (template: object) => ({
  DATA_DIR: path.join(folder, 'data'),
  TMPDIR: folder,
  CONTAINER_TEMPLATES: JSON.stringify({ work: { image: 'nowhere.invalid/nothing:1', memory: '256m', ...template } }),
})

interface Report {
  readonly template: string
  readonly got: readonly { readonly attempt: string; readonly level: string; readonly what: string }[]
  readonly tried: readonly { readonly attempt: string; readonly tried: string }[]
  readonly not_tried: readonly { readonly attempt: string; readonly reason: string }[]
}

/** Names of what attacks of this process, or of no process, have left on the engine. */
async function leftovers(pid: string): Promise<string[]> {
  const query = { all: 'true' }
  const isOfAttack = (name: string) => name.includes(`attack-${pid}-`)
  const containers = await askEngine<{ Names: string[] }[]>('GET', '/containers/json', { query })
  const networks = await askEngine<{ Name: string }[]>('GET', '/networks')
  const { Volumes } = await askEngine<{ Volumes: { Name: string }[] | null }>('GET', '/volumes')
  const images = await askEngine<{ RepoTags: string[] | null }[]>('GET', '/images/json')
  const names = [
    ...containers.flatMap(({ Names }) => Names),
    ...networks.map(({ Name }) => Name),
    ...(Volumes ?? []).map(({ Name }) => Name),
    ...images.flatMap(({ RepoTags }) => RepoTags ?? []),
  ]
  return names.filter(isOfAttack)
}

/** What is tried of the host needs its rules, which the process of a test may not be able to set. */
const withoutRules = ['host', 'metadata', 'neighbours']

// The groups of a template are in the store of the installation, and the attack has a store of its own.
test('with default settings a hostile container gets nothing, although its image is in no registry and its type is for a group, and nothing stays', async () => {
  const Labels = { 'berth.instance': 'attack-4194303-ghkmn' }
  const IPAM = { Config: [{ Subnet: testSubnet() }] }
  mkdirSync(path.join(folder, 'berth-attack-4194303-abcdef'))
  await askEngine('POST', '/networks/create', {
    body: { Name: 'attack-4194303-ghkmn', Driver: 'bridge', Labels, IPAM },
  })
  const https = { PREFERRED_URL_SCHEME: 'https', BASE_DOMAIN: 'example.org', SSH_LISTEN: '127.0.0.1:2222' }
  const child = startCommand({ ...settings({ groups: ['Physics 7b'] }), ...https }, ['doctor', 'attack', '--json'])
  const { stdout, stderr } = await resultOf(child)
  const { template, got, tried, not_tried } = JSON.parse(stdout) as Report
  assert.equal(template, 'work')
  assert.deepEqual(not_tried, [], stderr)
  assert.deepEqual(
    got.filter(({ level, attempt }) => level !== 'hint' && !withoutRules.includes(attempt)),
    [],
  )
  assert.deepEqual(
    tried.map(({ attempt }) => attempt),
    'neighbours host metadata engine rights mounts api ports ssh cookies origin sessions links pieces listings disk processes memory'.split(
      ' ',
    ),
  )
  const of = (name: string) => tried.find(({ attempt }) => attempt === name)?.tried ?? ''
  assert.match(of('ssh'), /^its key for another user, \d+ addresses/)
  assert.match(of('sessions'), /^a token in a cookie/)
  assert.match(of('listings'), /^a call of another user took \d+ ms beside lists/)
  assert.match(tried.at(-1)?.tried ?? '', /^it was killed at (2[0-5]\d|1\d\d) MiB$|was not exhausted/)
  assert.deepEqual(await leftovers(String(child.pid)), [])
  assert.deepEqual(await leftovers('4194303'), [], 'of a run that was killed')
  assert.deepEqual(readdirSync(folder), [], 'neither data nor files of its own')
})

test('settings that weaken a template are reported line by line, each with what mends it', onlyLong, async () => {
  const weak = {
    memory: '900g',
    pids: 4_194_304,
    cap_add: ['SYS_ADMIN'],
    forward_token: 'full',
    allow_headers: ['clear-site-data'],
    read_only: true,
    home: null,
  }
  const { code, stdout, stderr } = await runCommand(settings(weak), 'doctor', 'attack', '--type', 'work')
  assert.equal(code, 1, stderr)
  for (const line of [
    /^critical {2}memory: One container may take all memory of this host .*\n {10}fix: set a smaller memory/m,
    /^critical {2}processes: One container may start as many processes as the host has/m,
    /^warning {3}rights: .*SYS_ADMIN \(cap_add of the template\)/m,
    /^warning {3}api: With forward_token: full it gets the token of its owner/m,
    /^warning {3}origin: .*clear-site-data, which allow_headers of the template lets through/m,
    /^nothing {3}cookies: /m,
    /^nothing {3}disk: /m,
  ])
    assert.match(stdout, line)
  assert.match(stderr, /^berth: The hostile container got \d+ things; see above/m)
})

test('when the reader of its output ends, it ends, too, and what it started is removed', onlyLong, async () => {
  const child = startCommand(settings({}), ['doctor', 'attack'])
  assert.ok(child.stdout)
  await once(child.stdout, 'data')
  child.stdout.destroy()
  await once(child, 'exit')
  assert.equal(child.exitCode, 1)
  assert.deepEqual(await leftovers(String(child.pid)), [])
  assert.deepEqual(readdirSync(folder), [])
})

test('Ctrl-C ends it, and what it started is removed', onlyLong, async () => {
  const child = startCommand(settings({}), ['doctor', 'attack'])
  assert.ok(child.stdout)
  await once(child.stdout, 'data')
  assert.notDeepEqual(await leftovers(String(child.pid)), [])
  child.kill('SIGINT')
  const { code } = await resultOf(child)
  assert.equal(code, 130)
  assert.deepEqual(await leftovers(String(child.pid)), [])
})

test('a template that does not exist is wrong usage, and an engine that is away a reason', async () => {
  const wrong = await runCommand(settings({}), 'doctor', 'attack', '--type', 'none')
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /There is no template none\. There are: work/)
  const away = await runCommand({ ...settings({}), DOCKER_HOST: 'unix:///nowhere' }, 'doctor', 'attack')
  assert.equal(away.code, 1)
  assert.match(away.stderr, /^berth: The hostile container could not be started: .*nowhere/m)
})
