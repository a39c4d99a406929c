import { RuntimeError } from '#/engines/runtime-error.ts'
import type { ImageInfo } from '#/engines/runtime-container.ts'
import { callTimeouts } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { imagePath } from './image-path.ts'

/** What is taken from the engine's answer. */
export interface ImageInspection {
  readonly Id: string
  /** `name@sha256:...`, one for each name that a registry knows it by. */
  readonly RepoDigests?: readonly string[] | null
  /** The year 1 for one that was not tagged here. */
  readonly Metadata?: { readonly LastTagTime?: string } | null
  readonly Config: { readonly ExposedPorts?: object | null } | null
}

/** @throws {RuntimeError} `image` when the engine has none of this name */
export async function inspectImage(
  { client }: EngineContext,
  image: string,
  signal?: AbortSignal,
): Promise<ImageInspection> {
  const path = imagePath(image, 'json')
  return client.ask({ what: `inspect image ${image}`, method: 'GET', path, timeout: callTimeouts.read, signal })
}

export async function imageId(engine: EngineContext, image: string): Promise<string | undefined> {
  try {
    return imageIdFrom((await inspectImage(engine, image)).Id)
  } catch (error) {
    if (error instanceof RuntimeError && error.kind === 'image') return undefined
    throw error
  }
}

export async function imageInfo(engine: EngineContext, image: string): Promise<ImageInfo | undefined> {
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
