// Part of npm run test:long: each attempt with weakened protections; attack.test.ts has the whole attack with the usual ones.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { trialEngineFor } from '#/start/adapters.ts'
import { attackImage, hostileCommand, type AttackInstallation } from '@berth/cli/attack/attack-installation.ts'
import {
  exhaustMemory,
  exhaustProcesses,
  gainRights,
  reachHost,
  reachNeighbours,
  useEngine,
} from '@berth/cli/attack/container-attempts.ts'
import { readConfig } from '#/config/config.ts'
import { askEngine } from '#test/support/engine/engine.ts'
import { testSubnet } from '#test/support/engine/outer-network.ts'
import { eventually } from '#test/support/engine/runtimes.ts'

/**
 * The hostile program in a container that Berth does not make: with more rights, without limits, with the socket of the engine,
 * on a network that the rules of the host do not cover. Each attempt reports what it gets.
 */
const name = `test-loot-${randomBytes(4).toString('hex')}`
const image = `berth-${name}:trial`
const { signal } = new AbortController()
const { config } = readConfig({ DATA_DIR: '/nowhere' }, () => '')
if (!config) throw new Error('the default settings are wrong')
const engine = trialEngineFor(config)
let weak: AttackInstallation

before(async () => {
  await engine.importImage(image, attackImage(), signal)
  await askEngine('POST', '/networks/create', {
    body: {
      Name: name,
      Driver: 'bridge',
      IPAM: { Config: [{ Subnet: testSubnet() }] },
      Labels: { 'berth.instance': name },
    },
  })
  const [address, other] = [await start('hostile'), await start('other')]
  weak = {
    config: { ...config, port: 1 },
    template: { ...config.templates.first, capAdd: [] },
    neighbours: async () => [{ installation: name, address: other, port: 8080 }],
    host: async () => ({ memory: { total: 8 * 1024 ** 3, available: 4 * 1024 ** 3 } }),
    order: async (order: object) => {
      const query = Buffer.from(JSON.stringify(order)).toString('base64url')
      return (await fetch(`http://${address}:8080/order?order=${query}`)).json()
    },
  } as unknown as AttackInstallation
})

after(() => engine.removeInstallation(name, image))

/** @returns its address, when it answers */
async function start(role: string): Promise<string> {
  const body = {
    Image: image,
    Cmd: hostileCommand,
    Labels: { 'berth.instance': name },
    HostConfig: {
      NetworkMode: name,
      CapAdd: ['SYS_ADMIN', 'SYS_PTRACE'],
      SecurityOpt: ['seccomp=unconfined'],
      MaskedPaths: [],
      ReadonlyPaths: [],
      Binds: ['/var/run/docker.sock:/var/run/docker.sock'],
    },
  }
  const { Id } = await askEngine<{ Id: string }>('POST', '/containers/create', {
    query: { name: `${name}-${role}` },
    body,
  })
  await askEngine('POST', `/containers/${Id}/start`)
  const { NetworkSettings } = await askEngine<{
    NetworkSettings: { Networks: Record<string, { IPAddress: string } | undefined> }
  }>('GET', `/containers/${Id}/json`)
  const address = NetworkSettings.Networks[name]?.IPAddress ?? ''
  await eventually(async () => assert.equal((await fetch(`http://${address}:8080/`)).status, 200))
  return address
}

test('a neighbour that answers is reported by its address', async () => {
  const { got } = await reachNeighbours(weak, signal)
  assert.match(got[0]?.what ?? '', /^It reached other containers \(\d+\.\d+\.\d+\.\d+:8080\)/)
  assert.equal(got[0]?.level, 'critical')
})

test('without rules of the host a service of the host is reached, and the report names the page about the rules', async () => {
  const { got } = await reachHost(weak, signal)
  assert.match(got[0]?.what ?? '', /^It reached services of this host \(\d+\.\d+\.\d+\.\d+:\d+/)
  assert.match(got[0]?.fix ?? '', /set-host-rules\.md/)
})

test('a mounted socket of the engine is root on the host', async () => {
  const { got } = await useEngine(weak, signal)
  assert.match(got[0]?.what ?? '', /^It reached the engine at \/var\/run\/docker\.sock.*: it is root on this host/)
})

test('a container with more rights opens files of the host and has capabilities that Berth does not grant', async () => {
  const { got } = await gainRights(weak, signal)
  const found = got.map(({ level, what }) => `${level}: ${what}`).join('\n')
  assert.match(found, /^critical: It opens files by which it reaches the host: .*\/proc\/sys\/kernel\/core_pattern/m)
  assert.match(found, /^critical: It has \d+ capabilities more than Berth grants/m)
  assert.match(found, /^critical: It runs without a seccomp profile/m)
  assert.match(found, /^warning: Its programs may gain privileges/m)
})

test('a container without limits is reported, and takes neither memory nor processes of the host', async () => {
  const memory = await exhaustMemory(weak, signal)
  assert.match(memory.got[0]?.what ?? '', /^One container may take all memory of this host/)
  const processes = await exhaustProcesses(weak, signal)
  assert.match(processes.got[0]?.what ?? '', /^One container may start as many processes as the host has/)
})
