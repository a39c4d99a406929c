import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment, EnvironmentSource, EnvironmentVersion } from '@berth/api/schemas/environments.ts'
import { assertOk } from './api-calls.ts'
import { startBerth, type Berth, type BerthOptions, type Lifetime, type Person, type Reply } from './berth.ts'
import { askEngine, testImage } from './engine/engine.ts'
import { waitLimit } from './extent.ts'

/** A Berth whose administrators build images with the real engine; `course` is a type of an environment. */
export interface EnvironmentBerth {
  readonly berth: Berth
  readonly boss: Person
  readonly base: string
  /** Asks below `/api/admin/environments`. */
  ask(method: string, path: string, body?: unknown, by?: Person): Promise<Reply>
  make(name: string, source: EnvironmentSource, more?: object): Promise<Environment>
  /** Builds a version and waits for its end. @param limit ms, on a quick machine */
  build(name: string, limit?: number): Promise<EnvironmentVersion>
  read(name: string): Promise<Environment>
  /** What the engine has of builds of this installation. */
  left(): Promise<LeftOfBuilds>
}

/** How many containers and networks of builds there are, and the names of their images. */
export interface LeftOfBuilds {
  readonly containers: number
  readonly networks: number
  readonly images: string[]
}

export async function startEnvironmentBerth(
  lifetime: Lifetime,
  { env, ...options }: BerthOptions = {},
): Promise<EnvironmentBerth> {
  const base = await testImage()
  const usual = { port: 8080, memory: '64m', command: ['/bin/httpd', '-f', '-p', '8080', '-h', '/www'] }
  const templates = {
    dev: { image: base, port: 8080, memory: '64m' },
    course: { environment: 'course', ...usual },
  }
  const berth = await startBerth(lifetime, {
    ...options,
    env: { ENVIRONMENTS: 'admins', CONTAINER_TEMPLATES: JSON.stringify(templates), BUILD_MEMORY: '64m', ...env },
  })
  lifetime.after(() => removeBuilt(berth.installation))
  const boss = await berth.administrator()
  const ask = (method: string, path: string, body?: unknown, by = boss) =>
    by.call(method, `/api/admin/environments${path}`, body === undefined ? {} : { body })
  const read = async (name: string) => {
    const reply = await ask('GET', `/${name}`)
    assertOk(reply)
    return reply.body.environment as Environment
  }
  return {
    berth,
    boss,
    base,
    ask,
    read,
    make: async (name, source, more = {}) => {
      const reply = await ask('POST', '', { name, source, ...more })
      assertOk(reply)
      return reply.body.environment as Environment
    },
    build: async (name, limit) => {
      const begun = await ask('POST', `/${name}/build`)
      assert.equal(begun.status, 202, begun.text)
      return untilEnded(read, name, begun.body.version as number, limit)
    },
    left: () => leftOf(berth.installation),
  }
}

/** Waits until a version is ready or has failed. */
export async function untilEnded(
  read: EnvironmentBerth['read'],
  name: string,
  number: number,
  limit = 40_000,
): Promise<EnvironmentVersion> {
  const end = Date.now() + waitLimit(limit)
  while (Date.now() < end) {
    const version = (await read(name)).versions.find((each) => each.version === number)
    assert.ok(version)
    if (version.state === 'ready' || version.state === 'failed') return version
    await sleep(50)
  }
  throw new Error(`version ${number} of ${name} has not ended`)
}

const filtersOf = (installation: string) => JSON.stringify({ label: [`berth.build=${installation}`] })

/** Containers of steps, networks, and images by name or id, that the engine has of builds of an installation. */
export async function leftOf(installation: string): Promise<LeftOfBuilds> {
  const query = { all: 'true', filters: filtersOf(installation) }
  const containers = await askEngine<{ Labels: Record<string, string> }[]>('GET', '/containers/json', { query })
  const images = await askEngine<{ Id: string; RepoTags: string[] | null }[]>('GET', '/images/json', {
    query: { filters: query.filters },
  })
  const networks = await askEngine<{ Name: string }[]>('GET', '/networks')
  return {
    containers: containers.filter(({ Labels }) => !('berth.instance' in Labels)).length,
    networks: networks.filter(({ Name }) => Name.startsWith(`${installation}-build-`)).length,
    images: images.map(({ RepoTags, Id }) => RepoTags?.find((tag) => !tag.includes('<none>')) ?? Id).sort(),
  }
}

/** Images go last, when no container has them. */
export async function removeBuilt(installation: string): Promise<void> {
  const query = { filters: filtersOf(installation) }
  const images = await askEngine<{ Id: string }[]>('GET', '/images/json', { query })
  for (const { Id } of images)
    await askEngine('DELETE', `/images/${Id}`, { query: { force: 'true' } }).catch(() => undefined)
}
