import { RuntimeError } from '#/engines/runtime-error.ts'
import type { ContainerUsage } from '#/engines/runtime-container.ts'
import { callTimeouts } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { findOwn } from './docker-inspect.ts'

interface Stats {
  readonly cpu_stats?: { readonly cpu_usage?: { readonly total_usage?: number } }
  readonly memory_stats?: {
    readonly usage?: number
    /** By the names of the kernel: `total_inactive_file` with control groups v1, `inactive_file` with v2. */
    readonly stats?: Readonly<Record<string, number>>
  }
}

const nanosecondsPerSecond = 1e9

/** Only of what carries our labels. */
export async function usage(engine: EngineContext, id: string): Promise<ContainerUsage | undefined> {
  const found = await findOwn(engine, id)
  if (!found || !isUp(found.state)) return undefined
  const stats = await statsOf(engine, id)
  // Of a container that ended meanwhile the engine says 0, which no program that runs has.
  const nanoseconds = stats?.cpu_stats?.cpu_usage?.total_usage
  if (!nanoseconds) return undefined
  return { cpuSeconds: nanoseconds / nanosecondsPerSecond, memoryBytes: memoryOf(stats), startedAt: found.startedAt }
}

const isUp = (state: string) => state === 'running' || state === 'paused'

/** Without the files that the kernel can drop at any time, as `docker stats` counts. */
function memoryOf({ memory_stats: memory }: Stats): number | null {
  if (!memory?.usage) return null
  const droppable = memory.stats?.total_inactive_file ?? memory.stats?.inactive_file ?? 0
  return droppable < memory.usage ? memory.usage - droppable : memory.usage
}

async function statsOf({ client }: EngineContext, id: string): Promise<Stats | undefined> {
  const [what, path] = [`measure ${id}`, `/containers/${id}/stats`]
  // Docker 20.10 answers at the next stroke of a clock that all who ask share: up to 1 s of waiting, without work. Engines
  // before API 1.41 do not know `one-shot`; they ignore it and wait for two strokes.
  const query = { stream: 'false', 'one-shot': 'true' }
  try {
    const call = { what, method: 'GET', path, query, timeout: callTimeouts.measure, kind: 'stream' } as const
    return await client.ask<Stats | undefined>(call)
  } catch (error) {
    if (error instanceof RuntimeError && error.kind === 'missing') return undefined
    throw error
  }
}
