import { RuntimeError } from '#/runtime/runtime.ts'
import { call, limits } from './client.ts'
import type { Engine } from './engine.ts'

/** Pulls under way, so that all who wait for an image wait for one pull. */
const underWay = new WeakMap<Engine, Map<string, Promise<void>>>()

/** @throws {RuntimeError} `image` when it cannot be had, whatever the reason but an engine that does not answer */
export async function pull(engine: Engine, image: string, signal?: AbortSignal): Promise<void> {
  const pulls = underWay.get(engine) ?? new Map<string, Promise<void>>()
  underWay.set(engine, pulls)
  const shared = pulls.get(image) ?? pullOnce(engine, image).finally(() => pulls.delete(image))
  pulls.set(image, shared)
  // Whoever gives up stops waiting; the pull goes on for the others.
  await call(`pull ${image}`, limits.pull, () => shared, signal)
}

async function pullOnce({ docker }: Engine, image: string): Promise<void> {
  try {
    await call(`pull ${image}`, limits.pull, async (abortSignal) => {
      const progress = await docker.pull(withTag(image), { abortSignal })
      await new Promise<void>((resolve, reject) =>
        docker.modem.followProgress(progress, (error: Error | null) => (error ? reject(error) : resolve())),
      )
    })
  } catch (error) {
    throw new RuntimeError('image', `pull ${image}`, error)
  }
}

/** Without a tag the engine would pull every one there is. */
const withTag = (image: string) => (/(:[\w.-]+|@sha256:[0-9a-f]+)$/.test(image) ? image : `${image}:latest`)
