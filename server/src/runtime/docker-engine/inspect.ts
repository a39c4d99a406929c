import { RuntimeError, type Instance } from '#/runtime/runtime.ts'
import { limits } from './client.ts'
import type { Engine } from './engine.ts'
import { fingerprintFrom, ownerFrom, portFrom } from './labels.ts'
import { imageIdFrom } from './images.ts'
import type { Addresses } from './networks.ts'

/** What is taken from the engine's answer. */
export interface Inspection {
  readonly Id: string
  readonly Name: string
  readonly Image: string
  readonly State: {
    readonly Status: string
    readonly Running: boolean
    readonly ExitCode: number
    readonly OOMKilled?: boolean
    readonly StartedAt?: string
    readonly FinishedAt?: string
  }
  readonly HostConfig: { readonly NetworkMode: string }
  readonly Config: { readonly Labels: Readonly<Record<string, string>> | null; readonly Tty?: boolean }
  readonly NetworkSettings: { readonly Networks: Addresses | null }
}

/** What the engine accepts; anything else in a path could mean another call. */
export const isName = (name: string) => /^[a-zA-Z0-9][\w.-]+$/.test(name)
const isId = (id: string) => /^[0-9a-f]{64}$/.test(id)

/** The engine resolves names and beginnings of ids alike, so what it found is compared with what was asked. */
export async function inspect(engine: Engine, name: string): Promise<Instance | undefined> {
  if (!isName(name)) return undefined
  const found = await look(engine, name)
  return found?.Name === `/${name}` ? toInstance(engine, found) : undefined
}

export async function inspectId(engine: Engine, id: string, signal?: AbortSignal): Promise<Instance | undefined> {
  if (!isId(id)) return undefined
  const found = await look(engine, id, signal)
  return found?.Id === id ? toInstance(engine, found) : undefined
}

/**
 * The container that a verb may change. To every such verb a stranger's container does not exist.
 * Labels cannot change and ids are never given again, so the answer stays true.
 */
export async function findOwn(engine: Engine, id: string, signal?: AbortSignal): Promise<Instance | undefined> {
  const found = await lookAtOwn(engine, id, signal)
  return found && toInstance(engine, found)
}

/** As `findOwn`, in the engine's words. */
export async function lookAtOwn(engine: Engine, id: string, signal?: AbortSignal): Promise<Inspection | undefined> {
  const found = isId(id) ? await look(engine, id, signal) : undefined
  return found?.Id === id && ownerFrom(found.Config.Labels, engine.instance) ? found : undefined
}

async function look({ client }: Engine, reference: string, signal?: AbortSignal): Promise<Inspection | undefined> {
  const [what, path] = [`inspect ${reference}`, `/containers/${reference}/json`]
  try {
    return await client.ask<Inspection>({ what, method: 'GET', path, limit: limits.read, signal })
  } catch (error) {
    if (error instanceof RuntimeError && (error.kind === 'missing' || isAmbiguous(error))) return undefined
    throw error
  }
}

/** A name that nobody has, but that begins the ids of several. Docker answers 500 or 400, Podman has words of its own. */
const isAmbiguous = ({ cause }: RuntimeError) => /multiple ids found|more than one result/i.test(String(cause))

function toInstance({ instance, networks }: Engine, found: Inspection): Instance {
  const Labels = found.Config.Labels ?? {}
  const { Status, Running, ExitCode, OOMKilled, StartedAt, FinishedAt } = found.State
  const owner = ownerFrom(Labels, instance)
  return {
    id: found.Id,
    name: found.Name.slice(1),
    owner,
    state: Status,
    // Of a program that ended the engine has forgotten the address, or gives it on to the next.
    address: Running ? networks.addressIn(found.NetworkSettings.Networks) : null,
    port: owner && portFrom(Labels),
    imageId: imageIdFrom(found.Image),
    // `created` never ran; the engine says 0 for it.
    exitCode: Running || Status === 'created' ? null : ExitCode,
    isOutOfMemory: OOMKilled === true,
    startedAt: toInstant(StartedAt),
    endedAt: Running ? null : toInstant(FinishedAt),
    fingerprint: owner && fingerprintFrom(Labels),
  }
}

/** The engine writes `0001-01-01T00:00:00Z` for never. */
function toInstant(text: string | undefined): number | null {
  const instant = Date.parse(text ?? '')
  return instant > 0 ? instant : null
}
