import type { ImageStore } from '#/engines/image-store.ts'
import { callTimeouts, statusOf } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { encodedImage, imageId, imageIdFrom } from './images.ts'

type Engine = Pick<EngineContext, 'client' | 'pulls'>

interface ListedImage {
  readonly RepoTags: readonly string[] | null
  readonly RepoDigests?: readonly string[] | null
  readonly Size: number
}

/** Images of the Docker Engine. */
export const imageStore = (engine: Engine): ImageStore => ({
  onPulled: (listener) => engine.pulls.onPulled(listener),
  sizes: () => imageSizes(engine),
  remove: (image) => removeUnused(engine, image),
})

async function imageSizes({ client }: Engine): Promise<ReadonlyMap<string, number>> {
  const call = { what: 'list images', method: 'GET', path: '/images/json', timeout: callTimeouts.sweep } as const
  const images = await client.ask<ListedImage[]>(call)
  const named = images.flatMap(({ RepoTags, RepoDigests, Size }) =>
    [...(RepoTags ?? []), ...(RepoDigests ?? [])].map((name) => [name, Size] as const),
  )
  return new Map(named)
}

/** The engine lets an image be taken one of several names while a container has it, so containers are looked at first. */
async function removeUnused(engine: Engine, image: string): Promise<boolean> {
  const id = await imageId(engine, image)
  if (id === undefined) return true
  const { client } = engine
  const filters = JSON.stringify({ ancestor: [id] })
  const list = { what: `list containers of ${image}`, method: 'GET', path: '/containers/json' } as const
  const query = { all: 'true', filters }
  const found = await client.ask<{ ImageID: string }[]>({ ...list, query, timeout: callTimeouts.sweep })
  if (found.some(({ ImageID }) => imageIdFrom(ImageID) === id)) return false
  const call = { what: `remove image ${image}`, method: 'DELETE', path: `/images/${encodedImage(image)}` } as const
  try {
    await client.ask({ ...call, timeout: callTimeouts.remove })
    return true
  } catch (error) {
    const status = statusOf(error)
    if (status === 404) return true
    // A container was made of it meanwhile, or the broker of the engine's socket lets no image go.
    if (status === 409 || status === 403) return false
    throw error
  }
}
