import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { CpuUsage } from '#/runtime/runtime-container.ts'
import { callTimeouts } from '../client/engine-client.ts'
import type { EngineContext } from '../engine-context.ts'
import { findOwn } from './docker-inspect.ts'

interface Stats {
  readonly cpu_stats?: { readonly cpu_usage?: { readonly total_usage?: number } }
}

const nanosecondsPerSecond = 1e9

/** Only of what carries our labels. */
export async function cpuUsage(engine: EngineContext, id: string): Promise<CpuUsage | undefined> {
  const found = await findOwn(engine, id)
  if (!found || !isUp(found.state)) return undefined
  const nanoseconds = await cpuTime(engine, id)
  return nanoseconds ? { cpuSeconds: nanoseconds / nanosecondsPerSecond } : undefined
}

const isUp = (state: string) => state === 'running' || state === 'paused'

/** In nanoseconds. Of a container that ended meanwhile the engine says 0, which no program that runs has. */
async function cpuTime({ client }: EngineContext, id: string): Promise<number | undefined> {
  const [what, path] = [`measure ${id}`, `/containers/${id}/stats`]
  // Docker 20.10 answers at the next stroke of a clock that all who ask share: up to 1 s of waiting, without work. Engines
  // before API 1.41 do not know `one-shot`; they ignore it and wait for two strokes.
  const query = { stream: 'false', 'one-shot': 'true' }
  try {
    const call = { what, method: 'GET', path, query, timeout: callTimeouts.measure, kind: 'stream' } as const
    const stats = await client.ask<Stats | undefined>(call)
    return stats?.cpu_stats?.cpu_usage?.total_usage
  } catch (error) {
    if (error instanceof RuntimeError && error.kind === 'missing') return undefined
    throw error
  }
}
