import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { after, before, suite, test } from 'node:test'
import type { RuntimeContainer } from '#/engines/runtime.ts'
import { askEngine, testImage } from '../support/engine/engine.ts'
import { openOuterNetwork, testSubnet, type OuterNetwork } from '../support/engine/outer-network.ts'
import { prober, tries } from '../support/engine/prober.ts'
import { eventually, openInstallation, read, shell } from '../support/engine/runtimes.ts'

/** What a program in a container reaches, tried from inside it: others, the host, the cloud's metadata, the internet. */

/** Where rules cannot be set, only the engine isolates containers from each other, and nothing isolates them from the host. */
const impossible =
  /may not administer networks|there is no ip6?tables|not in the network that Berth sees|not on this machine/

const words = `secret ${randomBytes(8).toString('hex')}`

const endings: (() => unknown)[] = []
const lifetime = { after: (ending: () => Promise<void>) => void endings.unshift(ending) }
after(async () => {
  for (const ending of endings) await ending()
})

const opened = await openInstallation(lifetime, { maxPerNetwork: 2, hostRules: 'auto' })
const { runtime, run, installation } = opened
await runtime.prepare()
const { rules } = await runtime.host()
const skip = rules && !rules.areSet && impossible.test(rules.reason) ? rules.reason : false

suite('from inside a container', () => {
  let ann: RuntimeContainer, bob: RuntimeContainer, cat: RuntimeContainer
  /** No container of Berth's. */
  let stranger: RuntimeContainer
  let port: number

  before(async () => {
    if (!skip) assert.deepEqual(rules, { areSet: true })
    // Two on the first network, one on the second.
    ann = await run('ann', prober('ann'))
    bob = await run('bob', prober('bob'))
    cat = await run('cat', prober('cat'))
    stranger = await runStranger()
    port = await serve('0.0.0.0')
  })

  test('the host reaches every app', async () => {
    for (const [name, app] of Object.entries({ ann, bob, cat })) assert.equal(await read(app), `I am ${name}\n`)
  })

  test(
    'no service of the host is reached, whatever address it listens on; by a container that is not ours it is',
    { skip },
    async () => {
      const [own, others] = [await gatewayOf(ann), await gatewayOf(cat)]
      const ports = [
        `${own}:${port}`,
        `${others}:${port}`,
        `${own}:${await serve(own)}`,
        `${others}:${await serve(others)}`,
      ]
      for (const address of [...ports, ...ownAddresses().map((each) => `${each}:${port}`)]) {
        assert.match(await tries(stranger, address), new RegExp(words), address)
        assertRefused(await tries(ann, address), address)
      }
      assertRefused(await tries(ann, `127.0.0.1:${await serve('127.0.0.1')}`), '127.0.0.1')
    },
  )

  test('no other container is reached, neither on the same network nor on another', async () => {
    for (const to of [bob, cat]) assertRefused(await tries(ann, `${to.address}:8080`), to.name)
    for (const from of [bob, cat]) assertRefused(await tries(from, `${ann.address}:8080`), from.name)
    assert.match(await tries(ann, `${ann.address}:8080`), /I am ann/)
  })

  test('a network of an earlier version, whose bridge has another name, is covered too', { skip }, async () => {
    const old = await openInstallation(lifetime, { hostRules: 'auto' })
    const Options = { 'com.docker.network.bridge.enable_icc': 'false' }
    const Labels = { 'berth.instance': old.installation }
    const IPAM = { Config: [{ Subnet: testSubnet() }] }
    await askEngine('POST', '/networks/create', {
      body: { Name: old.installation, Driver: 'bridge', Options, Labels, IPAM },
    })
    await old.runtime.prepare()
    const dan = await old.run('dan', prober('dan'))
    assert.equal(await read(dan), 'I am dan\n')
    assertRefused(await tries(dan, `${await gatewayOf(dan)}:${port}`), 'the host')
    assertRefused(await tries(dan, `${ann.address}:8080`), 'a container of a newer one')
    assertRefused(await tries(ann, `${dan.address}:8080`), 'a container of an older one')
  })

  test(
    "the internet is reached; addresses like a cloud's metadata are not, except by name servers' port",
    { skip },
    async (t) => {
      const outer = await openOuterNetwork({ after: (ending) => t.after(ending) }, words)
      if (typeof outer === 'string') return t.skip(outer)
      await reaches(stranger, outer)
      assert.match(await tries(ann, `${outer.internet}:80`), new RegExp(words))
      assert.match(await tries(ann, `${outer.linkLocal}:53`), new RegExp(words))
      assertRefused(await tries(ann, `${outer.linkLocal}:80`), outer.linkLocal)
    },
  )

  test('a container has neither the socket of the engine nor an IPv6 address by which it could go around the rules', async () => {
    const { command } = shell(
      'ls /run /var/run > /tmp/run 2>&1; cat /proc/net/if_inet6 > /tmp/inet6 2>&1; cat /proc/mounts > /tmp/mounts',
    )
    const found = await run('looker', { command })
    assert.doesNotMatch(await read(found, 'run'), /docker|containerd|podman/)
    assert.doesNotMatch(await read(found, 'mounts'), /docker\.sock/)
    assert.doesNotMatch(await read(found, 'inet6'), /eth0/)
  })

  /** On a network of its own, without our labels: another program's. */
  async function runStranger(): Promise<RuntimeContainer> {
    const name = `${installation}-stranger`
    lifetime.after(async () => {
      await askEngine('DELETE', `/containers/${name}`, { query: { force: 'true' } }).catch(() => undefined)
      await askEngine('DELETE', `/networks/${name}`).catch(() => undefined)
    })
    await askEngine('POST', '/networks/create', {
      body: { Name: name, Driver: 'bridge', IPAM: { Config: [{ Subnet: testSubnet() }] } },
    })
    const { command } = prober('stranger')
    const body = { Image: await testImage(), Cmd: command, HostConfig: { NetworkMode: name } }
    const { Id } = await askEngine<{ Id: string }>('POST', '/containers/create', { query: { name }, body })
    await askEngine('POST', `/containers/${Id}/start`)
    const [endpoint] = await endpointsOf(Id)
    return { id: Id, name, address: endpoint?.IPAddress, port: 8080 } as RuntimeContainer
  }
})

interface Endpoint {
  readonly IPAddress: string
  readonly Gateway: string
}

async function endpointsOf(id: string): Promise<Endpoint[]> {
  const path = `/containers/${id}/json`
  const found = await askEngine<{ NetworkSettings: { Networks: Record<string, Endpoint> } }>('GET', path)
  return Object.values(found.NetworkSettings.Networks)
}

/** The host's address on the container's bridge. */
async function gatewayOf({ id }: RuntimeContainer): Promise<string> {
  return (await endpointsOf(id))[0]?.Gateway ?? ''
}

/** Addresses of the host that are no bridge's, as its own in the network that it stands in. */
function ownAddresses(): string[] {
  const named = Object.entries(networkInterfaces()).filter(([name]) => !/^(lo|br-|brth-|docker|veth|bt\d)/.test(name))
  return named.flatMap(([, each]) => (each ?? []).flatMap(({ family, address }) => (family === 'IPv4' ? address : [])))
}

/** A service of the host that answers with the secret words. @returns its port */
async function serve(address: string): Promise<number> {
  const server = createServer((_, response) => response.end(words)).listen(0, address)
  await once(server, 'listening')
  lifetime.after(async () => void server.close())
  return (server.address() as AddressInfo).port
}

function assertRefused(text: string, what: string): void {
  assert.doesNotMatch(text, /I am|secret/, what)
  assert.match(text, /exit code [1-9]/, what)
}

async function reaches(from: RuntimeContainer, { internet, linkLocal }: OuterNetwork): Promise<void> {
  await eventually(async () => {
    for (const address of [`${internet}:80`, `${linkLocal}:80`, `${linkLocal}:53`])
      assert.match(await tries(from, address), new RegExp(words), address)
  })
}
