import { registryOf } from '#/engines/container-spec.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { CreateOptions, ImageInfo, PullProgress, RegistryCredentials } from '#/engines/runtime.ts'
import { withSignal } from '#/machine/try-or-log.ts'
import { callTimeouts, isOutOfSpace, type EngineClient } from './engine-client.ts'

interface Engine {
  readonly client: EngineClient
}

/** Between two tellings of how far a pull is, in ms. */
const progressInterval = 250

type OnProgress = (progress: PullProgress) => void

interface Pull {
  readonly done: Promise<void>
  readonly controller: AbortController
  readonly meter: PullMeter
  /** All who wait, and whom to tell. */
  readonly waiting: Set<{ readonly onProgress: OnProgress | undefined }>
}

/**
 * Image pulls under way, so that all who wait for an image wait for one pull. It ends when the last of them gives up.
 */
export class ImagePulls {
  readonly #client: EngineClient
  readonly #stallTimeout: number
  readonly #underWay = new Map<string, Pull>()
  #onPulled: (image: string) => void = () => undefined

  /** @param stallTimeout ms without a word from the engine after which a pull counts as stalled */
  constructor(client: EngineClient, stallTimeout: number = callTimeouts.pullStall) {
    this.#client = client
    this.#stallTimeout = stallTimeout
  }

  /** @param listener gets the name of each image that has come; one listener, which must not throw */
  onPulled(listener: (image: string) => void): void {
    this.#onPulled = listener
  }

  /**
   * Resolves when the image is here.
   * @param onProgress called at once, then up to four times a second (throttled), and once more at the end; must not
   *   throw
   * @param credentials for its registry; pulls with another account are pulls of their own
   * @throws {RuntimeError} `image` when it cannot be had, stalls, or is not here within 30 min; `unreachable`
   */
  async pull(image: string, { signal, onPull: onProgress, credentials }: CreateOptions = {}): Promise<void> {
    signal?.throwIfAborted()
    const account = credentials?.()
    const key = JSON.stringify([image, account])
    const pull = this.#underWay.get(key) ?? this.#begin(key, image, account)
    const me = { onProgress }
    pull.waiting.add(me)
    onProgress?.(pull.meter.now())
    try {
      await withSignal(pull.done, signal)
    } finally {
      pull.waiting.delete(me)
      if (pull.waiting.size === 0) this.#end(key, pull)
    }
  }

  #begin(key: string, image: string, account: RegistryCredentials | undefined): Pull {
    const controller = new AbortController()
    const meter = new PullMeter()
    const waiting: Pull['waiting'] = new Set()
    const tell = () => {
      const progress = meter.now()
      for (const { onProgress } of waiting) onProgress?.(progress)
    }
    const lines = readPull(this.#client, image, account, controller.signal)
    const noteTime = () => notePullTime(this.#client, image, controller.signal)
    const done = this.#read(lines, controller, meter, tell).then(noteTime)
    void done.then(
      () => this.#onPulled(image),
      () => undefined,
    )
    // Those who gave up do not hear how it ended.
    done.catch(() => undefined)
    const pull = { done, controller, meter, waiting }
    this.#underWay.set(key, pull)
    return pull
  }

  #end(key: string, pull: Pull): void {
    if (this.#underWay.get(key) === pull) this.#underWay.delete(key)
    pull.controller.abort()
  }

  async #read(
    lines: AsyncIterable<PullLine>,
    controller: AbortController,
    meter: PullMeter,
    tell: () => void,
  ): Promise<void> {
    const whole = setTimeout(() => controller.abort(tooLong('took', callTimeouts.pull)), callTimeouts.pull)
    const stalled = () => controller.abort(tooLong('made no progress for', this.#stallTimeout))
    const silence = setTimeout(stalled, this.#stallTimeout)
    const telling = tellOnChange(meter, tell)
    try {
      for await (const line of lines) {
        silence.refresh()
        meter.note(line)
      }
    } finally {
      clearTimeout(whole)
      clearTimeout(silence)
      clearInterval(telling)
    }
    tell()
  }
}

/** Called from a timer, so that a listener that throws is a bug of its own, not a failure of the pull. */
function tellOnChange(meter: PullMeter, tell: () => void): NodeJS.Timeout {
  let last = ''
  return setInterval(() => {
    const now = JSON.stringify(meter.now())
    if (now !== last) tell()
    last = now
  }, progressInterval)
}

const tooLong = (what: string, ms: number) => new DOMException(`the pull ${what} ${ms} ms`, 'TimeoutError')

/**
 * Whatever the registry said, and a registry that says nothing: the image is not to be had, or there is no room for it.
 */
async function* readPull(
  client: EngineClient,
  image: string,
  account: RegistryCredentials | undefined,
  signal: AbortSignal,
): AsyncGenerator<PullLine> {
  const what = `pull ${image}`
  const query = { fromImage: withTag(image) }
  const call = {
    what,
    method: 'POST',
    path: '/images/create',
    query,
    headers: registryAuth(image, account),
    timeout: callTimeouts.pull,
    kind: 'stream',
    signal,
  } as const
  try {
    for await (const line of await client.follow<PullLine>(call)) {
      if (line.error) throw new Error(line.error)
      yield line
    }
  } catch (error) {
    if (error instanceof RuntimeError && error.kind === 'unreachable') throw error
    const cause = error instanceof RuntimeError ? error.cause : error
    throw new RuntimeError(isOutOfSpace(String(cause)) ? 'full' : 'image', what, cause)
  }
}

/**
 * Docker keeps the time at which an image was given a name, and none of a pull, so the image is given its name once
 * more. Its failure is no failure of the pull: the time stays unknown.
 */
async function notePullTime(client: EngineClient, image: string, signal: AbortSignal): Promise<void> {
  const [, repo, tag] = /^([^@]+):([^:/@]+)$/.exec(withTag(image)) ?? []
  // One that is named by its digest has no tag.
  if (repo === undefined || tag === undefined) return
  const path = imagePath(`${repo}:${tag}`, 'tag')
  const call = { what: `note the time of the pull of ${image}`, method: 'POST', path, query: { repo, tag } } as const
  await client.ask({ ...call, timeout: callTimeouts.read, signal }).catch(() => undefined)
}

/**
 * Without a tag or digest the engine would pull every one there is. A colon before a slash belongs to the registry's
 * port.
 */
const withTag = (image: string) => (/[:@][^/]+$/.test(image) ? image : `${image}:latest`)

/** One line of the engine's answer to a pull. */
export interface PullLine {
  /** Docker's words: `Pulling fs layer`, `Downloading`, `Extracting`, `Pull complete`, `Already exists`... */
  readonly status?: string
  /** Which layer; on the first line the tag. */
  readonly id?: string
  /** Bytes, compressed, of the phase that `status` names; empty where nothing is counted. */
  readonly progressDetail?: { readonly current?: number; readonly total?: number }
  readonly error?: string
}

interface Layer {
  isDone: boolean
  bytesDone: number
  bytesTotal: number
}

/** Adds up what the engine says of each layer. Layers are unpacked one after the other, but come side by side. */
export class PullMeter {
  readonly #layers = new Map<string, Layer>()

  note({ status = '', id, progressDetail }: PullLine): void {
    if (id === undefined || status.startsWith('Pulling from')) return
    const layer = this.#layers.get(id) ?? { isDone: false, bytesDone: 0, bytesTotal: 0 }
    this.#layers.set(id, layer)
    const { current = 0, total = 0 } = progressDetail ?? {}
    if (status === 'Downloading' || status === 'Extracting') layer.bytesTotal = Math.max(total, current)
    // A layer that is unpacked has come whole; one that is tried again begins anew. Small ones come without any count.
    if (status === 'Downloading') layer.bytesDone = current
    else if (status.startsWith('Retrying')) layer.bytesDone = 0
    else if (hasCome.has(status)) layer.bytesDone = layer.bytesTotal
    layer.isDone = isComplete.has(status)
  }

  now(): PullProgress {
    const layers = [...this.#layers.values()]
    return {
      layersDone: layers.filter(({ isDone }) => isDone).length,
      layersTotal: layers.length,
      bytesDone: sum(layers.map(({ bytesDone }) => bytesDone)),
      bytesTotal: sum(layers.map(({ bytesTotal }) => bytesTotal)),
    }
  }
}

const hasCome = new Set(['Verifying Checksum', 'Download complete', 'Extracting', 'Pull complete'])
const isComplete = new Set(['Pull complete', 'Already exists'])

const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0)

/** What is taken from the engine's answer. */
export interface ImageInspection {
  readonly Id: string
  /** `name@sha256:...`, one for each name that a registry knows it by. */
  readonly RepoDigests?: readonly string[] | null
  /** The year 1 for one that was not tagged here. */
  readonly Metadata?: { readonly LastTagTime?: string } | null
  readonly Size: number
  readonly Config: {
    readonly ExposedPorts?: object | null
    readonly User?: string
    readonly OnBuild?: readonly string[] | null
    readonly Labels?: Readonly<Record<string, string>> | null
  } | null
}

/** @throws {RuntimeError} `image` when the engine has none of this name */
export async function inspectImage({ client }: Engine, image: string, signal?: AbortSignal): Promise<ImageInspection> {
  const path = imagePath(image, 'json')
  return client.ask({ what: `inspect image ${image}`, method: 'GET', path, timeout: callTimeouts.read, signal })
}

/**
 * The engine's answer to `Runtime.imageId`. A template whose environment is not published has an empty name.
 * @throws {RuntimeError}
 */
export async function imageId(engine: Engine, image: string): Promise<string | undefined> {
  if (image === '') return undefined
  try {
    return imageIdFrom((await inspectImage(engine, image)).Id)
  } catch (error) {
    if (error instanceof RuntimeError && error.kind === 'image') return undefined
    throw error
  }
}

/** The engine's answer to `Runtime.imageInfo`. @throws {RuntimeError} */
export async function imageInfo(engine: Engine, image: string): Promise<ImageInfo | undefined> {
  if (image === '') return undefined
  try {
    const { Id, RepoDigests, Metadata } = await inspectImage(engine, image)
    const tagged = new Date(Metadata?.LastTagTime ?? '')
    const digest = digestOf(image, RepoDigests ?? [])
    return { id: imageIdFrom(Id), digest, taggedAt: tagged.getTime() > 0 ? tagged : null }
  } catch (error) {
    if (error instanceof RuntimeError && error.kind === 'image') return undefined
    throw error
  }
}

/** An image that was pushed to several registries has a digest at each. */
function digestOf(image: string, digests: readonly string[]): string | null {
  const repository = image.replace(/@.*$/, '').replace(/:[^:/]+$/, '')
  const own = digests.find((each) => each.startsWith(`${repository}@`)) ?? digests[0]
  return own?.split('@')[1] ?? null
}

/** Podman names the kind of digest in some answers and leaves it out of others. */
export const imageIdFrom = (id: string) => id.replace(/^sha256:/, '')

/** Name of an image as a part of a path of the engine's API: its slashes stay. */
export const encodedImage = (image: string): string => image.split('/').map(encodeURIComponent).join('/')

const imagePath = (image: string, verb: 'json' | 'tag') => `/images/${encodedImage(image)}/${verb}`

/**
 * Header with credentials for the registry of an image: base64url with padding, as Go's `base64.URLEncoding` reads it.
 * Source: Docker Engine API, "Authentication".
 */
export function registryAuth(image: string, credentials: RegistryCredentials | undefined): Record<string, string> {
  if (!credentials) return {}
  const json = JSON.stringify({ ...credentials, serveraddress: registryOf(image) })
  const encoded = Buffer.from(json).toString('base64').replaceAll('+', '-').replaceAll('/', '_')
  return { 'x-registry-auth': encoded }
}
