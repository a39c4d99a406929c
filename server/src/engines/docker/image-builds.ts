import { setTimeout as sleep } from 'node:timers/promises'
import {
  BuildFailed,
  BuildTooLarge,
  type BaseImage,
  type BuiltImage,
  type ImageBuild,
  type ImageBuilds,
} from '#/engines/image-builds.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { BuildNetworks } from './build-networks.ts'
import { callTimeouts, isOutOfSpace, statusOf, withHealthCheck } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { volumeSizes } from './home-volumes.ts'
import { encodedImage, inspectImage } from './images.ts'
import { buildLabels, isOfAnyInstallation } from './labels.ts'

type Engine = Pick<EngineContext, 'client' | 'installation'>
type Labels = Readonly<Record<string, string>>

/** A tenth of what other programs on the host have, when there is not enough for all: launches go first. */
const cpuShares = 100
/** Period of the limit of CPU time, in microseconds. */
const cpuPeriod = 100_000
/** Between two looks at what a build has written, in ms: the engine adds up all files. */
const sizeInterval = 5_000
/** Volumes are added up by the engine for the whole host: the pause is so many times as long as the last look took. */
const volumePause = 10

/** One line of the engine's answer to a build. */
interface BuildLine {
  readonly stream?: string
  readonly status?: string
  readonly error?: string
  /** The id of the image, in the last ones. */
  readonly aux?: { readonly ID?: string }
}

/**
 * Builds by the classic builder of the engine: it runs each step in a container of a network that is named, with limits,
 * and ends when its client goes away. BuildKit keeps to none of these.
 */
export function imageBuilds(engine: Engine): ImageBuilds {
  const networks = new BuildNetworks(engine)
  return {
    labelsFor: (build) => ({ [buildLabels.installation]: engine.installation, [buildLabels.build]: build }),
    find: (image) => findImage(engine, image),
    build: (wanted, onOutput, signal) =>
      networks.use(wanted.id, (network) => build(engine, wanted, network, onOutput, signal)),
    sweep: async (keep) => {
      await sweep(engine, async () => {
        const kept = await keep()
        return (build) => !kept.has(build)
      })
      await networks.sweep()
    },
  }
}

async function findImage(engine: Engine, image: string): Promise<BaseImage | undefined> {
  try {
    const { Id: id, Config } = await inspectImage(engine, image)
    const { User: user = '', OnBuild, Labels } = Config ?? {}
    return { id, user, onBuild: OnBuild ?? [], labels: Labels ?? {} }
  } catch (error) {
    if (error instanceof RuntimeError && error.kind === 'image') return undefined
    throw error
  }
}

async function build(
  engine: Engine,
  wanted: ImageBuild,
  network: string,
  onOutput: (text: string) => void,
  signal: AbortSignal,
): Promise<BuiltImage> {
  const tooLarge = new AbortController()
  const all = AbortSignal.any([signal, tooLarge.signal])
  const watching = new AbortController()
  void watchSize(engine, wanted, tooLarge, watching.signal)
  try {
    const begin = (either: AbortSignal) => readBuild(engine, wanted, network, onOutput, either)
    const id = await withHealthCheck(engine.client, begin, all)
    const image = await inspectImage(engine, id)
    if (image.Size > wanted.limits.maxSize) throw new BuildTooLarge()
    return { id: image.Id, size: image.Size }
  } catch (error) {
    await discard(engine, wanted.id)
    throw error
  } finally {
    watching.abort()
  }
}

/** The engine may finish a step after its client has gone away: looked again a moment later. Never rejects. */
async function discard(engine: Engine, id: string): Promise<void> {
  for (const delay of [0, 300, 1_500]) {
    await sleep(delay)
    await sweep(engine, async () => (each) => each === id).catch(() => undefined)
  }
}

/** @returns id of the image @throws {BuildFailed} @throws {RuntimeError} the signal's reason */
async function readBuild(
  { client }: Engine,
  { id, name, context, dockerfile, limits }: ImageBuild,
  network: string,
  onOutput: (text: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const what = `build ${name}`
  const memory = String(limits.memory)
  const query = {
    version: '1',
    dockerfile,
    t: name,
    rm: 'true',
    forcerm: 'true',
    nocache: 'true',
    networkmode: network,
    memory,
    memswap: memory,
    cpuperiod: String(cpuPeriod),
    cpuquota: String(Math.round(limits.cpus * cpuPeriod)),
    cpushares: String(cpuShares),
  }
  const call = {
    what,
    method: 'POST',
    path: '/build',
    query,
    archive: context,
    timeout: limits.timeout,
    kind: 'stream',
    signal,
  } as const
  let image: string | undefined
  try {
    for await (const line of await client.follow<BuildLine>(call)) {
      if (line.error !== undefined) throw new BuildFailed(line.error)
      image = line.aux?.ID ?? image
      if (line.stream !== undefined) onOutput(line.stream)
    }
  } catch (error) {
    throw failureOf(error, what)
  }
  if (image === undefined) throw new BuildFailed(`the engine ended the build ${id} without an image`)
  return image
}

/** What the engine refuses is about the Dockerfile, apart from a full disk. */
function failureOf(error: unknown, what: string): unknown {
  const words = error instanceof BuildFailed ? error.message : String((error as Error).cause ?? '')
  if (isOutOfSpace(words)) return new RuntimeError('full', what, error)
  const isRefused = error instanceof RuntimeError && error.kind !== 'unreachable' && statusOf(error) !== undefined
  return isRefused ? new BuildFailed(words) : error
}

interface ListedContainer {
  readonly Id: string
  /** The name of the image that was given, or its id. */
  readonly Image: string
  readonly Labels: Labels | null
  readonly SizeRw?: number
  readonly Mounts?: readonly { readonly Type: string; readonly Name?: string }[] | null
}

/** Ends a build whose present step has written more than an image may have. Never rejects. */
async function watchSize(
  engine: Engine,
  { id, limits }: ImageBuild,
  tooLarge: AbortController,
  done: AbortSignal,
): Promise<void> {
  for (let pause = sizeInterval; !done.aborted;) {
    await sleep(pause, undefined, { signal: done, ref: false }).catch(() => undefined)
    if (done.aborted) return
    const began = performance.now()
    const written = await sizesOfSteps(engine, id, done).catch(() => [])
    if (written.some((bytes) => bytes > limits.maxSize)) tooLarge.abort(new BuildTooLarge())
    pause = Math.max(sizeInterval, (performance.now() - began) * volumePause)
  }
}

/** Bytes that each running step has written, into its layer and into volumes that `VOLUME` of a base gives it. */
async function sizesOfSteps(engine: Engine, id: string, signal: AbortSignal): Promise<number[]> {
  const containers = await listContainers(engine, `${buildLabels.build}=${id}`, true)
  const volumesOf = ({ Mounts }: ListedContainer) =>
    (Mounts ?? []).flatMap(({ Type, Name }) => (Type === 'volume' && Name !== undefined ? Name : []))
  const hasVolumes = containers.some((each) => volumesOf(each).length > 0)
  // A failure of one look leaves what the other tells.
  const volumes = hasVolumes ? await volumeSizes(engine, signal).catch(() => undefined) : undefined
  const sizeOf = (volume: string) => Math.max(0, volumes?.get(volume) ?? 0)
  return containers.map((each) => volumesOf(each).reduce((all, volume) => all + sizeOf(volume), each.SizeRw ?? 0))
}

async function listContainers({ client, installation }: Engine, label: string, withSizes = false) {
  const filters = JSON.stringify({ label: [`${buildLabels.installation}=${installation}`, label] })
  const query = { all: 'true', filters, ...(withSizes && { size: 'true' }) }
  const call = { what: 'list containers of builds', method: 'GET', path: '/containers/json', query } as const
  return client.ask<ListedContainer[]>({ ...call, timeout: callTimeouts.sweep })
}

interface ListedImage {
  readonly Id: string
  readonly RepoTags: readonly string[] | null
  readonly Labels: Labels | null
}

/** @param rule asked behind the lists for what is not to stay, by the id of its build */
async function sweep(engine: Engine, rule: () => Promise<(build: string) => boolean>): Promise<void> {
  const { client, installation } = engine
  const containers = await listContainers(engine, buildLabels.build)
  const filters = JSON.stringify({ label: [`${buildLabels.installation}=${installation}`, buildLabels.build] })
  const list = { what: 'list images of builds', method: 'GET', path: '/images/json', query: { filters } } as const
  const images = await client.ask<ListedImage[]>({ ...list, timeout: callTimeouts.sweep })
  const isLeft = await rule()
  const concerns = ({ Labels }: { readonly Labels: Labels | null }) => isLeft(Labels?.[buildLabels.build] ?? '')
  // Containers of users, and those that others made of a built image, have labels of the image, too; only steps of a
  // build have an image without a name.
  const isStep = ({ Image, Labels }: ListedContainer) =>
    !isOfAnyInstallation(Labels) && /^(sha256:)?[0-9a-f]{12,64}$/.test(Image)
  for (const each of containers) if (isStep(each) && concerns(each)) await removeContainer(engine, each.Id)
  for (const each of images) if (concerns(each)) await removeImage(engine, namesOf(each))
}

/** Docker 20.10 names an image without a tag `<none>:<none>`. */
function namesOf({ Id: id, RepoTags }: ListedImage): readonly string[] {
  const named = (RepoTags ?? []).filter((each) => !each.includes('<none>'))
  return named.length > 0 ? named : [id]
}

async function removeContainer({ client }: Engine, id: string): Promise<void> {
  const call = { what: 'remove a step of a build', method: 'DELETE', path: `/containers/${id}` } as const
  await client
    .ask({ ...call, query: { force: 'true', v: 'true' }, timeout: callTimeouts.remove })
    .catch((error: unknown) => {
      // Gone, or being removed by the engine.
      if (![404, 409].includes(statusOf(error) ?? 0)) throw error
    })
}

/** By its names, so that the engine refuses it while a container uses it. Images below it that have no name go with it. */
async function removeImage({ client }: Engine, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const path = `/images/${encodedImage(name)}`
    await client
      .ask({ what: `remove image ${name}`, method: 'DELETE', path, timeout: callTimeouts.remove })
      .catch((error: unknown) => {
        if (![404, 409].includes(statusOf(error) ?? 0)) throw error
      })
  }
}
