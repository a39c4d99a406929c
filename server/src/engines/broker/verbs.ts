import { buildParameters, type BuildCheck } from './build-check.ts'
import type { CreateCheck } from './create-check.ts'
import type { PulledImages } from './pulled-images.ts'
import {
  Refused,
  buildLabel,
  helperLabel,
  ownLabel,
  type EngineObjects,
  type InstallationLock,
} from './installation-objects.ts'

/** What a client asks, with its parts apart. */
export interface Asked {
  /** Groups of the verb's path. */
  readonly names: readonly string[]
  readonly query: URLSearchParams
  /** Parsed; undefined when the verb takes none. */
  readonly body: unknown
}

/** What is sent to the engine in its place. */
export interface Approved {
  readonly path: string
  /** JSON; undefined: the client's body as it comes, or none. */
  readonly body?: unknown
  /** Bytes that are sent in place of the client's body. */
  readonly archive?: string
  /** As `Verb.shown`, which it goes before. */
  readonly shown?: (answer: unknown) => unknown
  /** Called with the engine's status, before the client has its answer. */
  readonly onAnswer?: (status: number) => void
  /** Called once the engine's answer has come whole, before the client has its end. */
  readonly onEnd?: () => Promise<void>
}

/** One verb of the broker. */
export interface Verb {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  readonly path: RegExp
  /** Parameters that it may have; with any other it is refused. */
  readonly query: readonly string[]
  /** `json`: read and checked whole. `stream`: passed on as it comes. */
  readonly body?: 'json' | 'stream'
  /** Whether the engine gives the connection over (101), with `Approved.body` as the engine's; then it has no other answer. */
  readonly isHijacked?: true
  /** What of the engine's answer, JSON, the client gets; all when undefined. */
  readonly shown?: (answer: unknown) => unknown
  /** @returns what to send; undefined when there is no such thing @throws {Refused} */
  readonly approve: (asked: Asked) => Approved | undefined | Promise<Approved | undefined>
}

export interface VerbParts {
  readonly objects: EngineObjects
  readonly installation: InstallationLock
  readonly create: CreateCheck
  readonly build: BuildCheck
  readonly pulled: PulledImages
}

const execId = '([0-9a-f]{64})'
const name = '([a-zA-Z0-9][\\w.-]{0,254})'
/** Name of an image: registry, path, tag and digest, encoded as Berth does it. */
const image = '([a-zA-Z0-9][\\w.%/-]{0,511})'

/** All verbs that the adapter of Docker (`engines/docker/`) uses, and no others. */
export function engineVerbs({ objects, installation, create, build, pulled }: VerbParts): readonly Verb[] {
  /** A path as it is: what it tells is no secret and changes nothing. */
  const open = (path: string, query: readonly string[] = []): Verb => ({
    method: 'GET',
    path: new RegExp(`^${path}$`),
    query,
    approve: ({ names }) => ({ path: path.replace(image, names[0] ?? '').replace(name, names[0] ?? '') }),
  })
  const list = (path: string, query: readonly string[]): Verb => ({
    method: 'GET',
    path: new RegExp(`^${path}$`),
    query,
    approve: (asked) => {
      requireOwnFilter(asked.query, installation)
      return { path }
    },
  })
  const ofContainer = (method: Verb['method'], action: string, query: readonly string[], body?: 'stream'): Verb => ({
    method,
    path: new RegExp(`^/containers/${name}${action}$`),
    query,
    ...(body && { body }),
    approve: async ({ names }) => {
      const id = await objects.container(names[0] ?? '', action === '/start' ? 'started' : 'any')
      return id === undefined ? undefined : { path: `/containers/${id}${action}` }
    },
  })
  const ofVolume = (method: Verb['method']): Verb => ({
    method,
    path: new RegExp(`^/volumes/${name}$`),
    query: [],
    approve: async ({ names: [volume = ''] }) =>
      (await objects.volume(volume)) === 'own' ? { path: `/volumes/${volume}` } : undefined,
  })
  return [
    open('/_ping'),
    open('/version'),
    open('/info'),
    { ...open('/system/df', ['type']), shown: (answer) => shownSizes(answer, objects) },
    { ...open('/networks', ['filters']), shown: shownNetworks },
    open(`/images/${image}/json`),
    open(`/distribution/${image}/json`),
    {
      ...list('/containers/json', ['all', 'filters', 'size']),
      approve: ({ query }) => {
        const path = '/containers/json'
        if (isOfImage(query)) return { path, shown: shownImages }
        requireOwnFilter(query, installation)
        return { path }
      },
    },
    {
      ...list('/images/json', ['filters']),
      approve: ({ query }) => {
        const path = '/images/json'
        if (query.size === 0) return { path, shown: (answer) => shownPulled(answer, pulled) }
        requireOwnFilter(query, installation)
        return { path }
      },
    },
    list('/volumes', ['filters']),
    list('/events', ['filters', 'since', 'until']),
    ofContainer('GET', '/json', []),
    ofContainer('GET', '/logs', ['stdout', 'stderr', 'follow', 'tail', 'since']),
    ofContainer('GET', '/stats', ['stream', 'one-shot']),
    ofContainer('GET', '/archive', ['path']),
    ofContainer('HEAD', '/archive', ['path']),
    ofContainer('PUT', '/archive', ['path', 'noOverwriteDirNonDir', 'copyUIDGID'], 'stream'),
    ofContainer('POST', '/start', []),
    ofContainer('POST', '/unpause', []),
    ofContainer('POST', '/pause', []),
    ofContainer('POST', '/stop', ['t']),
    ofContainer('DELETE', '', ['force', 'v']),
    {
      method: 'POST',
      path: new RegExp(`^/containers/${name}/exec$`),
      query: [],
      body: 'json',
      approve: async ({ names, body }) => {
        const id = await objects.container(names[0] ?? '', 'user')
        return id === undefined ? undefined : { path: `/containers/${id}/exec`, body: create.exec(body) }
      },
    },
    {
      method: 'POST',
      path: new RegExp(`^/exec/${execId}/start$`),
      query: [],
      isHijacked: true,
      approve: async ({ names: [id = ''] }) =>
        (await objects.hasExec(id)) ? { path: `/exec/${id}/start`, body: { Detach: false, Tty: false } } : undefined,
    },
    {
      method: 'GET',
      path: new RegExp(`^/exec/${execId}/json$`),
      query: [],
      shown: shownExec,
      approve: async ({ names: [id = ''] }) => ((await objects.hasExec(id)) ? { path: `/exec/${id}/json` } : undefined),
    },
    {
      method: 'POST',
      path: /^\/containers\/create$/,
      query: ['name'],
      body: 'json',
      approve: async ({ body, query }) => ({
        path: '/containers/create',
        body: await create.container(body, query.get('name') ?? ''),
      }),
    },
    ofVolume('GET'),
    {
      method: 'POST',
      path: /^\/volumes\/create$/,
      query: [],
      body: 'json',
      approve: async ({ body }) => ({ path: '/volumes/create', body: await create.volume(body) }),
    },
    ofVolume('DELETE'),
    {
      method: 'POST',
      path: /^\/networks\/create$/,
      query: [],
      body: 'json',
      approve: ({ body }) => ({ path: '/networks/create', body: create.network(body) }),
    },
    {
      method: 'DELETE',
      path: new RegExp(`^/networks/${name}$`),
      query: [],
      approve: async ({ names }) => {
        const id = await objects.network(names[0] ?? '')
        return id === undefined ? undefined : { path: `/networks/${id}` }
      },
    },
    {
      method: 'POST',
      path: /^\/build$/,
      query: buildParameters,
      body: 'stream',
      approve: async ({ query }) => {
        await build.check(query)
        return { path: '/build' }
      },
    },
    {
      method: 'DELETE',
      path: new RegExp(`^/images/${image}$`),
      query: [],
      approve: async ({ names: [named = ''] }) => {
        const path = `/images/${named}`
        if (await objects.isOwnImage(named)) return { path }
        const whole = decodeURIComponent(named)
        if (!pulled.has(whole)) return undefined
        if (await objects.hasContainerOf(named))
          throw new Refused('a container, of Berth or another program, has this image')
        // What the engine refuses at this moment is tried again. One that is gone may be pulled by another program.
        return { path, onAnswer: (status) => void ([200, 404].includes(status) && pulled.forget(whole)) }
      },
    },
    {
      method: 'POST',
      path: new RegExp(`^/images/${image}/tag$`),
      query: ['repo', 'tag'],
      approve: ({ names: [named = ''], query }) => {
        requireSameTag(decodeURIComponent(named), query)
        return { path: `/images/${named}/tag` }
      },
    },
    {
      method: 'POST',
      path: /^\/images\/create$/,
      query: ['fromImage', 'tag', 'fromSrc', 'repo'],
      body: 'stream',
      approve: async ({ query }) => {
        const path = '/images/create'
        if (!isPull(query)) return { path, archive: emptyArchive }
        const named = pulledName(query)
        if (named === undefined || (await objects.hasImage(named))) return { path }
        // One that failed brought nothing, and another program may pull this image later.
        return { path, onEnd: async () => void ((await objects.hasImage(named)) && pulled.note(named)) }
      },
    },
  ]
}

/** An image gets the name that it has, which notes the time; another name could replace an image of another program. */
function requireSameTag(image: string, query: URLSearchParams): void {
  if (image !== `${query.get('repo')}:${query.get('tag')}`) throw new Refused('it gives an image another name')
}

/** Lists have the filter that keeps to one installation: others that run on the host are not told of. */
function requireOwnFilter(query: URLSearchParams, installation: InstallationLock): void {
  const labels = labelsOf(query.get('filters'))
  const named = labels.flatMap((each) => {
    const [, key, value] = /^([^=]+)=(.*)$/.exec(each) ?? []
    return key === ownLabel || key === helperLabel || key === buildLabel ? [value] : []
  })
  if (named.length === 0) throw new Refused(`its filter names no installation (label ${ownLabel}=...)`)
  for (const each of named) installation.require(each)
}

/** Whether all containers of an image are asked for, of whichever program: they are told of by that image alone. */
function isOfImage(query: URLSearchParams): boolean {
  return /^\{"ancestor":\["[0-9a-f]{64}"\]\}$/.test(query.get('filters') ?? '')
}

const shownImages = (answer: unknown) =>
  (answer as readonly { readonly ImageID: string }[]).map(({ ImageID }) => ({ ImageID }))

interface ListedImage {
  readonly RepoTags: readonly string[] | null
  readonly RepoDigests: readonly string[] | null
  readonly Size: number
}

/** Of images that were pulled through the broker the names and sizes. */
function shownPulled(answer: unknown, pulled: PulledImages): unknown {
  return (answer as readonly ListedImage[]).flatMap(({ RepoTags, RepoDigests, Size }) => {
    const [tags, digests] = [RepoTags, RepoDigests].map((names) => (names ?? []).filter((each) => pulled.has(each)))
    return tags?.length || digests?.length ? { RepoTags: tags, RepoDigests: digests, Size } : []
  })
}

function labelsOf(filters: string | null): string[] {
  try {
    const { label } = JSON.parse(filters ?? '{}') as { label?: unknown }
    return Array.isArray(label) ? label.filter((each) => typeof each === 'string') : []
  } catch {
    return []
  }
}

/** An archive in tar without a file: two blocks of zeros (POSIX.1-2001, pax). */
const emptyArchive = '\0'.repeat(1024)

/**
 * An image is pulled from a registry, or is the empty one of helpers, of which the broker has the archive itself:
 * another could replace an image of another program.
 * @throws {Refused} when it is neither
 */
function isPull(query: URLSearchParams): boolean {
  const isHelper = query.get('fromSrc') === '-' && query.get('repo') === 'berth-helper' && query.get('tag') === 'empty'
  if (isHelper && !query.has('fromImage')) return false
  if (query.get('fromImage') !== null && !query.has('fromSrc') && !query.has('repo')) return true
  throw new Refused('it takes in an image that is no pull; load images by Docker itself')
}

/** The image that is pulled; undefined for a repository of which the engine pulls all tags. */
function pulledName(query: URLSearchParams): string | undefined {
  const [image, tag] = [query.get('fromImage') ?? '', query.get('tag') ?? '']
  if (tag === '') return /[:@][^/]+$/.test(image) ? image : undefined
  return `${image}${tag.includes(':') ? '@' : ':'}${tag}`
}

/** Parts of answers that Berth reads, where the engine tells of the whole host. */

interface Network {
  readonly Id: string
  readonly Name: string
  readonly Driver: string
  readonly Options: Readonly<Record<string, string>> | null
  readonly Labels: Readonly<Record<string, string>> | null
  readonly IPAM: unknown
}

/**
 * Networks without their members, and of their labels those of Berth: each installation looks for addresses that are
 * free.
 */
function shownNetworks(answer: unknown): unknown {
  return (answer as readonly Network[]).map(({ Id, Name, Driver, Options, Labels, IPAM }) => ({
    Id,
    Name,
    Driver,
    Options: startingWith('com.docker.network.bridge.', Options),
    Labels: startingWith('berth.', Labels),
    IPAM,
  }))
}

/** How a program ended, without its command and its container. */
function shownExec(answer: unknown): unknown {
  const { ID, Running, ExitCode } = answer as Readonly<Record<string, unknown>>
  return { ID, Running, ExitCode }
}

interface Sizes {
  readonly Volumes?:
    readonly { readonly Name: string; readonly Labels: Network['Labels']; readonly UsageData?: unknown }[] | null
}

/** Sizes of the installation's own volumes. Engines before API 1.42 list all containers and images, too. */
function shownSizes(answer: unknown, objects: Pick<EngineObjects, 'isOwn'>): unknown {
  const { Volumes } = answer as Sizes
  const own = (Volumes ?? []).filter(({ Labels }) => objects.isOwn(Labels))
  return { Volumes: own.map(({ Name, Labels, UsageData }) => ({ Name, Labels, UsageData })) }
}

const startingWith = (prefix: string, all: Readonly<Record<string, string>> | null) =>
  Object.fromEntries(Object.entries(all ?? {}).filter(([key]) => key.startsWith(prefix)))
