import { RuntimeError } from '#/engines/runtime-error.ts'
import type { RuntimeContainer } from '#/engines/runtime-container.ts'
import { toInstant } from '#/engines/transport/instant.ts'
import { callTimeouts } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { fingerprintFrom, ownerFrom, portFrom, templateVersionFrom } from './labels.ts'
import { imageIdFrom } from './image-inspect.ts'
import type { Addresses } from './networks.ts'

/** What is taken from the engine's answer. */
export interface Inspection {
  readonly Id: string
  readonly Name: string
  readonly Image: string
  readonly State: {
    readonly Status: string
    readonly Running: boolean
    /** 0 when it does not run. */
    readonly Pid?: number
    readonly ExitCode: number
    readonly OOMKilled?: boolean
    readonly StartedAt?: string
    readonly FinishedAt?: string
  }
  readonly HostConfig: {
    readonly NetworkMode: string
    readonly Runtime?: string
    readonly Mounts?: readonly { readonly Type: string; readonly Source?: string }[] | null
  }
  readonly Config: { readonly Labels: Readonly<Record<string, string>> | null; readonly Tty?: boolean }
  readonly NetworkSettings: { readonly Networks: Addresses | null }
}

/** What the engine accepts; anything else in a path could mean another call. */
export const isValidName = (name: string) => /^[a-zA-Z0-9][\w.-]+$/.test(name)
const isValidId = (id: string) => /^[0-9a-f]{64}$/.test(id)

/** The engine resolves names and beginnings of ids alike, so what it found is compared with what was asked. */
export async function inspect(engine: EngineContext, name: string): Promise<RuntimeContainer | undefined> {
  if (!isValidName(name)) return undefined
  const found = await inspectAny(engine, name)
  return found?.Name === `/${name}` ? toContainer(engine, found) : undefined
}

export async function inspectId(
  engine: EngineContext,
  id: string,
  signal?: AbortSignal,
): Promise<RuntimeContainer | undefined> {
  if (!isValidId(id)) return undefined
  const found = await inspectAny(engine, id, signal)
  return found?.Id === id ? toContainer(engine, found) : undefined
}

/**
 * The container that a verb may change. For such verbs a container of another installation does not exist.
 * Labels cannot change and ids are never given again, so the answer stays true.
 */
export async function findOwn(
  engine: EngineContext,
  id: string,
  signal?: AbortSignal,
): Promise<RuntimeContainer | undefined> {
  const found = await inspectOwn(engine, id, signal)
  return found && toContainer(engine, found)
}

/** As `findOwn`, in the engine's words. */
export async function inspectOwn(
  engine: EngineContext,
  id: string,
  signal?: AbortSignal,
): Promise<Inspection | undefined> {
  const found = isValidId(id) ? await inspectAny(engine, id, signal) : undefined
  return found?.Id === id && ownerFrom(found.Config.Labels, engine.installation) ? found : undefined
}

async function inspectAny(
  { client }: EngineContext,
  reference: string,
  signal?: AbortSignal,
): Promise<Inspection | undefined> {
  const [what, path] = [`inspect ${reference}`, `/containers/${reference}/json`]
  try {
    return await client.ask<Inspection>({ what, method: 'GET', path, timeout: callTimeouts.read, signal })
  } catch (error) {
    if (error instanceof RuntimeError && (error.kind === 'missing' || isAmbiguous(error))) return undefined
    throw error
  }
}

/** A name that no container has, but that is a prefix of several ids. Docker answers 500 or 400, Podman has words of its own. */
const isAmbiguous = ({ cause }: RuntimeError) => /multiple ids found|more than one result/i.test(String(cause))

function toContainer({ installation, networks, oomNotices }: EngineContext, found: Inspection): RuntimeContainer {
  const Labels = found.Config.Labels ?? {}
  const { Status, Running, ExitCode, OOMKilled, StartedAt, FinishedAt } = found.State
  const owner = ownerFrom(Labels, installation)
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
    isOutOfMemory: OOMKilled === true || oomNotices.has(found.Id),
    startedAt: toInstant(StartedAt),
    endedAt: Running ? null : toInstant(FinishedAt),
    fingerprint: owner && fingerprintFrom(Labels),
    templateVersion: templateVersionFrom(Labels),
  }
}
