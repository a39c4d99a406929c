import { listedName } from '#/engines/container-spec.ts'
import type { ImageStore } from '#/engines/image-store.ts'
import { callTimeouts, statusOf } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { encodedImage, imageId, imageIdFrom } from './images.ts'

type Engine = Pick<EngineContext, 'client' | 'pulls'>

/** Images of the Docker Engine. */
export const imageStore = (engine: Engine): ImageStore => ({
  onPulled: (listener) => engine.pulls.onPulled(listener),
  sizesOf: (images) => sizesOf(engine, images),
  remove: (image) => removeUnused(engine, image),
})

/** Through the broker the list has the images that were pulled through it. */
async function sizesOf({ client }: Engine, images: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const list = { what: 'list images', method: 'GET', path: '/images/json', timeout: callTimeouts.sweep } as const
  const found = await client.ask<ListedImage[]>(list)
  const sizes = new Map(
    found.flatMap(({ RepoTags, RepoDigests, Size }) =>
      [...(RepoTags ?? []), ...(RepoDigests ?? [])].map((name) => [listedName(name), Size] as const),
    ),
  )
  return new Map(
    images.flatMap((image) => {
      const size = sizes.get(listedName(image))
      return size === undefined ? [] : [[image, size] as const]
    }),
  )
}

interface ListedImage {
  readonly RepoTags: readonly string[] | null
  readonly RepoDigests: readonly string[] | null
  /** Bytes. */
  readonly Size: number
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
    // The broker does not know images that others pulled.
    if (status === 404) return (await imageId(engine, image)) === undefined
    // A container was made of it meanwhile, or the broker of the engine's socket lets no image go that a container has.
    if (status === 409 || status === 403) return false
    throw error
  }
}
