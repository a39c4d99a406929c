import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Home } from '#/engines/runtime-container.ts'
import { callTimeouts } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { statusOf } from './engine-errors.ts'
import { isValidName } from './docker-inspect.ts'
import { labelFilter, ownerFrom } from './labels.ts'

/** What is taken from the engine's answer. */
export interface Volume {
  readonly Name: string
  readonly Labels: Readonly<Record<string, string>> | null
  /** Where it is on the engine's host. */
  readonly Mountpoint?: string
  /** Options of its driver at creation, such as `size`. */
  readonly Options?: Readonly<Record<string, string>> | null
}

type Engine = Pick<EngineContext, 'client' | 'installation'>

/** Volumes that carry our labels and an owner's. */
export async function listHomes(engine: Engine, signal?: AbortSignal): Promise<(Home & { found: Volume })[]> {
  const homes: (Home & { found: Volume })[] = []
  await eachHome(engine, (home) => void homes.push(home), signal)
  return homes
}

export async function homes(engine: EngineContext): Promise<Home[]> {
  const homes: Home[] = []
  await eachHome(engine, ({ volume, owner }) => void homes.push({ volume, owner }))
  return homes
}

/** One by one as they come: there is a home for every user who ever launched a container. */
async function eachHome(engine: Engine, take: (home: Home & { found: Volume }) => void, signal?: AbortSignal) {
  const query = { filters: JSON.stringify({ label: labelFilter(engine.installation) }) }
  const call = {
    what: 'list volumes',
    method: 'GET',
    path: '/volumes',
    query,
    timeout: callTimeouts.list,
    signal,
  } as const
  const takeVolumes = (volumes: readonly Volume[]) => {
    for (const found of volumes) {
      const owner = ownerFrom(found.Labels, engine.installation)
      if (owner) take({ volume: found.Name, owner, found })
    }
  }
  await engine.client.each(call, takeVolumes, 2)
}

/**
 * Only what carries our labels. Names of volumes, unlike ids of containers, are given again: between the look and the
 * removal another volume could take its name, for a millisecond. The engine has no id to distinguish them.
 */
export async function removeHome(engine: EngineContext, volume: string): Promise<void> {
  if (!(await isHome(engine, volume))) return
  try {
    const path = `/volumes/${volume}`
    await engine.client.ask({ what: `remove volume ${volume}`, method: 'DELETE', path, timeout: callTimeouts.remove })
  } catch (error) {
    if (!isGone(error)) throw error
  }
}

async function isHome({ client, installation }: EngineContext, volume: string): Promise<boolean> {
  if (!isValidName(volume)) return false
  const [what, path] = [`inspect volume ${volume}`, `/volumes/${volume}`]
  try {
    const { Name, Labels } = await client.ask<Volume>({ what, method: 'GET', path, timeout: callTimeouts.read })
    return Name === volume && ownerFrom(Labels, installation) !== null
  } catch (error) {
    if (isGone(error)) return false
    throw error
  }
}

/** The words count, too: a proxy in between that knows no such path answers 404 as well. */
const isGone = (error: unknown) =>
  error instanceof RuntimeError && statusOf(error) === 404 && /no such volume/i.test(String(error.cause))
